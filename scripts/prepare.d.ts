export function run(
  command: string,
  args: readonly string[],
  options?: { readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number },
): Promise<number>;
