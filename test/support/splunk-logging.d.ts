/** What the tests use of it; the package has no types. */
declare module 'splunk-logging' {
  export class Logger {
    constructor(config: { token: string; url: string; maxBatchCount?: number });
    send(context: { message: unknown; severity?: string; metadata?: Readonly<Record<string, string>> }): void;
  }
}
