/** What the shell is told: docs/operating.md. */
export const EXIT = { done: 0, input: 1, misuse: 2, failure: 3 } as const;
