// Packages without types: what the tests use of them.
declare module 'parse-prometheus-text-format' {
  interface ReadMetric {
    readonly name: string;
    readonly type: string;
    readonly metrics: readonly { readonly labels?: Record<string, string>; readonly value?: string }[];
  }
  export default function parse(text: string): ReadMetric[];
}
