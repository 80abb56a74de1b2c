import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { SavedEndpoint } from '../../../../src/management/workbench-view.ts';
import { queries, type Run, useClient, useRun } from '../../api/queries.ts';

/** The texts of a definition; empty: this kind of definition, or this one, has no such file. */
export interface Texts {
  /** endpoint.yaml, or the one file of another kind. */
  readonly definition: string;
  /** query.sql */
  readonly sql: string;
  /** Tests that are saved with a new endpoint. */
  readonly test: string;
}

/** The texts that the work started from, or that were saved last. */
export interface Base extends Texts {
  /** null: a new definition. */
  readonly version: string | null;
  readonly values?: Readonly<Record<string, string>>;
}

export interface StoredFiles extends Pick<Base, 'definition' | 'version'> {
  readonly sql?: string;
}

export function toBase({ definition, sql = '', version }: StoredFiles): Base {
  return { definition, sql, test: '', version };
}

export type Work = ReturnType<typeof useWork>;

/** The texts under work, kept as the draft of this name while they differ from the files. */
export function useWork(name: string, opened: Base) {
  // Who signs in next in this tab does not see what another one wrote.
  const key = `tailrace.workbench.${useClient().self.id}.${name}`;
  const [state, setState] = useState(() => {
    const draft = readDraft(key);
    const values: Readonly<Record<string, string>> = { ...opened.values, ...draft.values };
    return {
      base: { ...opened, version: draft.work?.version ?? opened.version },
      texts: textsOf(draft.work ?? opened),
      values,
      isRestored: draft.work !== undefined,
    };
  });
  const change = (part: (before: typeof state) => Partial<typeof state>) =>
    setState((before) => ({ ...before, ...part(before) }));
  const [isKept, setKept] = useState(true);
  const { base, texts, values } = state;
  const isChanged = !areSame(texts, base);

  useEffect(() => {
    const work = isChanged ? { ...texts, version: base.version } : undefined;
    setKept(keepDraft(key, { work, values }));
  }, [key, texts, values, base.version, isChanged]);

  return {
    ...{ base, texts, values, isChanged },
    /** Whether a reload would keep the changes. */
    isKept,
    isRestored: state.isRestored && isChanged,
    edit: (part: Partial<Texts>) => change((before) => ({ texts: { ...before.texts, ...part } })),
    setValue: (parameter: string, value: string) =>
      change((before) => ({ values: { ...before.values, [parameter]: value } })),
    reset: (next: Base) => change(() => ({ base: next, texts: textsOf(next), isRestored: false })),
    /** To be called when texts are saved; edits since they were `sent` stay. */
    settle(saved: Base, sent: Texts) {
      keepDraft(key, { values: {} }); // the name may be another one now
      change((before) => ({
        base: saved,
        texts: areSame(before.texts, sent) ? textsOf(saved) : { ...before.texts, test: saved.test },
        isRestored: false,
      }));
    },
  };
}

function areSame(a: Texts, b: Texts): boolean {
  return a.definition === b.definition && a.sql === b.sql && a.test === b.test;
}

function textsOf({ definition, sql, test }: Texts): Texts {
  return { definition, sql, test };
}

/** The state of the workbench in the session storage of this tab, so that a reload or another page loses no text. */
interface Draft {
  /** Texts that are not saved, and the version of the files that they started from. */
  readonly work?: (Texts & Pick<Base, 'version'>) | undefined;
  readonly values: Readonly<Record<string, string>>;
}

function readDraft(key: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '') as Draft; // written by keepDraft
  } catch {
    return { values: {} };
  }
}

/** @returns whether it is kept: the browser bounds the storage */
function keepDraft(key: string, draft: Draft): boolean {
  try {
    if (draft.work === undefined && Object.keys(draft.values).length === 0) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/** Definitions that the workbench saves: the part of their paths in the API. */
export type DefinitionKind = 'endpoints' | 'alerts' | 'dashboards' | 'searches';

/** The path of something that is done with the texts of a definition. */
export function actionPath(kind: DefinitionKind, action: 'check' | 'save'): string {
  return `/api/workbench/${kind === 'endpoints' ? '' : `${kind}/`}${action}`;
}

export function filesPath(kind: DefinitionKind, name: string): string {
  return `/api/workbench/${kind}/${encodeURIComponent(name)}`;
}

/** Reads what a definition's files are now. @param reason each reads them by itself */
export function useStored(reason: string, kind: DefinitionKind, name: string, isWanted: boolean): Run<Base> {
  const path = filesPath(kind, name);
  const needs = ['definition', 'version'] as const;
  return useRun(isWanted ? [reason, path] : undefined, async (client, signal) =>
    toBase(await client.call<StoredFiles>(path, needs, { signal })),
  );
}

interface SentFile extends StoredFiles {
  readonly name: string;
  readonly test?: string;
}

/** `tests`: those of an endpoint, which ran. */
export type Saved = Pick<SavedEndpoint, 'name' | 'version'> & Partial<Pick<SavedEndpoint, 'tests'>>;

export type Saving = ReturnType<typeof useSaveFile>;

/** Saves the file of a definition, or the files of an endpoint. @param before saves what it needs */
export function useSaveFile(kind: DefinitionKind, before?: () => Promise<void>) {
  const client = useClient();
  const cache = useQueryClient();
  return useMutation({
    async mutationFn(body: SentFile) {
      await before?.();
      return await client.post<Saved>(actionPath(kind, 'save'), ['name', 'version'], body);
    },
    onSuccess() {
      // The lists of the navigation and the other pages have it at once.
      void cache.invalidateQueries({ queryKey: queries[kind].queryKey });
      void cache.invalidateQueries({ queryKey: queries.workbench.queryKey });
    },
  });
}
