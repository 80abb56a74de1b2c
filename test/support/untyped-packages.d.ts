// Packages without types: what the tests use of them.
declare module 'parse-prometheus-text-format' {
  interface ReadMetric {
    readonly name: string;
    readonly type: string;
    readonly metrics: readonly { readonly labels?: Record<string, string>; readonly value?: string }[];
  }
  export default function parse(text: string): ReadMetric[];
}

declare module 's3rver' {
  /** A server of S3's protocol. */
  export default class S3rver {
    constructor(options: {
      readonly port: number;
      readonly address: string;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly never[] }[];
    });
    run(): Promise<{ readonly port: number }>;
    close(): Promise<void>;
  }
}

declare module 'splunk-logging' {
  export class Logger {
    constructor(config: { token: string; url: string; maxBatchCount?: number });
    send(context: { message: unknown; severity?: string; metadata?: Readonly<Record<string, string>> }): void;
  }
}

declare module 'syslog-client' {
  interface Client {
    log(message: string, options: object, onSent: (error: Error | null) => void): void;
    close(): void;
  }
  const client: {
    readonly Transport: { readonly Tcp: number; readonly Udp: number };
    readonly Severity: { readonly Error: number };
    createClient(target: string, options: object): Client;
  };
  export default client;
}
