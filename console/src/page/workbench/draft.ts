import type { Files } from './api.ts';

/** The state of the workbench in the session storage of this tab, so that a reload or another page loses no text. */
export interface Draft {
  /** Texts that are not saved, and the version of the files that they started from; null: of a new endpoint, which may have a test. */
  readonly work?: (Files & { readonly version: string | null; readonly test?: string }) | undefined;
  /** Values of the parameters. */
  readonly values: Readonly<Record<string, string>>;
}

/** Who signs in next in this tab does not see what another one wrote. */
const keyOf = (owner: string, name: string) => `tailrace.workbench.${owner}.${name}`;

/** @param owner id of the key or person. @param name of the endpoint; empty: a new one */
export function readDraft(owner: string, name: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(owner, name)) ?? '') as Draft; // written by keepDraft
  } catch {
    return { values: {} };
  }
}

/** @returns whether it is kept: the browser bounds the storage */
export function keepDraft(owner: string, name: string, draft: Draft): boolean {
  try {
    if (draft.work === undefined && Object.keys(draft.values).length === 0)
      sessionStorage.removeItem(keyOf(owner, name));
    else sessionStorage.setItem(keyOf(owner, name), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}
