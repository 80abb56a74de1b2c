import { useEffect, useState } from 'react';
import { useClient } from '../../api/client.ts';
import type { Files } from './api.ts';

/** The files that the work started from, or that were saved last. */
export interface Base extends Files {
  /** null: a new endpoint. */
  readonly version: string | null;
  /** A file of tests of a new endpoint; empty: none. */
  readonly test?: string;
  /** Values of the parameters to begin with. */
  readonly values?: Readonly<Record<string, string>>;
}

export interface WorkedFiles {
  readonly base: Base;
  readonly files: Files;
  readonly test: string;
  readonly values: Readonly<Record<string, string>>;
  readonly isChanged: boolean;
  /** Whether the texts are those of an earlier visit. */
  readonly isRestored: boolean;
  /** Whether a reload would keep the changes. */
  readonly isKept: boolean;
  edit(change: Partial<Files>): void;
  setTest(text: string): void;
  setValue(name: string, value: string): void;
  /** Continues with these files. */
  reset(base: Base): void;
  /** To be called when these files are saved; edits since they were `sent` stay. */
  settle(base: Base, sent: Files): void;
}

/** The texts under work, kept as the draft of this name while they differ from the files. */
export function useFiles(name: string, opened: Base): WorkedFiles {
  const owner = useClient().self.id;
  const [draft] = useState(() => readDraft(owner, name));
  const [base, setBase] = useState({ ...opened, version: draft.work?.version ?? opened.version });
  const [files, setFiles] = useState(() => textsOf(draft.work ?? opened));
  const [test, setTest] = useState(draft.work?.test ?? opened.test ?? '');
  const [values, setValues] = useState({ ...opened.values, ...draft.values });
  const [isRestored, setRestored] = useState(draft.work !== undefined);
  const [isKept, setKept] = useState(true);
  const isOfFiles = files.definition === base.definition && files.sql === base.sql;
  const isChanged = !isOfFiles || test !== (base.test ?? '');

  useEffect(() => {
    const { definition, sql } = files;
    const work = isChanged ? { definition, sql, test, version: base.version } : undefined;
    setKept(keepDraft(owner, name, { work, values }));
  }, [owner, name, files, test, values, base.version, isChanged]);

  return {
    base,
    files,
    test,
    values,
    isChanged,
    isRestored: isRestored && isChanged,
    isKept,
    edit: (change) => setFiles((before) => ({ ...before, ...change })),
    setTest,
    setValue: (parameter, value) => setValues((before) => ({ ...before, [parameter]: value })),
    reset(next) {
      setBase(next);
      setFiles(textsOf(next));
      setTest(next.test ?? '');
      setRestored(false);
    },
    settle(next, sent) {
      setBase(next);
      setTest('');
      setRestored(false);
      setFiles((now) =>
        now.definition === sent.definition && now.sql === sent.sql
          ? { definition: next.definition, sql: next.sql }
          : now,
      );
    },
  };
}

/** Files are sent as they are, and routes reject unknown members. */
function textsOf({ definition, sql }: Files): Files {
  return { definition, sql };
}

/** The state of the workbench in the session storage of this tab, so that a reload or another page loses no text. */
interface Draft {
  /** Texts that are not saved, and the version of the files that they started from; null: of a new endpoint, which may have a test. */
  readonly work?: (Files & { readonly version: string | null; readonly test?: string }) | undefined;
  /** Values of the parameters. */
  readonly values: Readonly<Record<string, string>>;
}

/** Who signs in next in this tab does not see what another one wrote. */
const keyOf = (owner: string, name: string) => `tailrace.workbench.${owner}.${name}`;

/** @param owner id of the key or person. @param name of the endpoint; empty: a new one */
function readDraft(owner: string, name: string): Draft {
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
