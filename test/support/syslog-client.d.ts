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
