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
