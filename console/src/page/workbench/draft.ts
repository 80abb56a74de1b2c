import type { Files } from './api.ts';

/** The state of the workbench in the session storage of this tab, so that a reload or another page loses no text. */
export interface Draft {
  /** Texts that are not saved, and the version of the files that they started from; null: of a new endpoint. */
  readonly work?: (Files & { readonly version: string | null }) | undefined;
  /** Values of the parameters. */
  readonly values: Readonly<Record<string, string>>;
}

const PREFIX = 'tailrace.workbench.';

/** @param name of the endpoint; empty: a new one */
export function readDraft(name: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? '') as Draft; // written by keepDraft
  } catch {
    return { values: {} };
  }
}

/** @returns whether it is kept: the browser bounds the storage */
export function keepDraft(name: string, draft: Draft): boolean {
  try {
    if (draft.work === undefined && Object.keys(draft.values).length === 0)
      sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}
