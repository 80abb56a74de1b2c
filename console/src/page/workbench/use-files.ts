import { useEffect, useState } from 'react';
import type { Files } from './api.ts';
import { keepDraft, readDraft } from './draft.ts';

/** The files that the work started from, or that were saved last. */
export interface Base extends Files {
  /** null: a new endpoint. */
  readonly version: string | null;
}

export interface WorkedFiles {
  readonly base: Base;
  readonly files: Files;
  readonly values: Readonly<Record<string, string>>;
  readonly isChanged: boolean;
  /** Whether the texts are those of an earlier visit. */
  readonly isRestored: boolean;
  /** Whether a reload would keep the changes. */
  readonly isKept: boolean;
  edit(change: Partial<Files>): void;
  setValue(name: string, value: string): void;
  /** Continues with these files. */
  reset(base: Base): void;
  /** To be called when these files are saved; edits since they were `sent` stay. */
  settle(base: Base, sent: Files): void;
}

/** The texts under work, kept as a draft of `name` while they differ from the files. */
export function useFiles(name: string, opened: Base): WorkedFiles {
  const [draft] = useState(() => readDraft(name));
  const [base, setBase] = useState({ ...opened, version: draft.work?.version ?? opened.version });
  const [files, setFiles] = useState(() => textsOf(draft.work ?? opened));
  const [values, setValues] = useState(draft.values);
  const [isRestored, setRestored] = useState(draft.work !== undefined);
  const [isKept, setKept] = useState(true);
  const isChanged = files.definition !== base.definition || files.sql !== base.sql;

  useEffect(() => {
    const { definition, sql } = files;
    const work = isChanged ? { definition, sql, version: base.version } : undefined;
    setKept(keepDraft(name, { work, values }));
  }, [name, files, values, base.version, isChanged]);

  return {
    base,
    files,
    values,
    isChanged,
    isRestored: isRestored && isChanged,
    isKept,
    edit: (change) => setFiles((before) => ({ ...before, ...change })),
    setValue: (parameter, value) => setValues((before) => ({ ...before, [parameter]: value })),
    reset(next) {
      setBase(next);
      setFiles(textsOf(next));
      setRestored(false);
    },
    settle(next, sent) {
      setBase(next);
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
