/** One line of the answer to a command, as JSON: some of `progress`, then one of the others. */
export type Line =
  | { readonly progress: unknown }
  | { readonly done: unknown }
  | {
      readonly error: {
        readonly faults?: readonly string[];
        readonly code?: string;
        readonly message: string;
      };
    };

/** What the service can be asked to do. */
export const COMMANDS = {
  describe: '/describe',
  snapshot: '/snapshot',
  count: '/deletions/count',
  delete: '/deletions',
} as const;
