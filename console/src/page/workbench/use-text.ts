import { useEffect, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { keepDraft, readDraft } from './draft.ts';
import type { FileKind } from './use-save-file.ts';

export interface DefinitionFile {
  readonly name: string;
  readonly definition: string;
  /** null: a new file. */
  readonly version: string | null;
}

/** The text under work, kept for this tab while it differs from the file. */
export function useText(kind: FileKind, file: DefinitionFile) {
  // No endpoint has a space in its name.
  const key = `${kind === 'alerts' ? 'alert' : 'dashboard'} ${file.name}`;
  const owner = useClient().self.id;
  const [draft] = useState(() => readDraft(owner, key).work);
  const [base, setBase] = useState({ ...file, version: draft === undefined ? file.version : draft.version });
  const [text, setText] = useState(draft?.definition ?? file.definition);
  const [isRestored, setRestored] = useState(draft !== undefined);
  const isChanged = text !== base.definition;
  useEffect(() => {
    const work = isChanged ? { definition: text, sql: '', version: base.version } : undefined;
    keepDraft(owner, key, { work, values: {} });
  }, [owner, key, text, base.version, isChanged]);
  return {
    ...{ base, text, isChanged, setText },
    isRestored: isRestored && isChanged,
    /** Continues with a file. */
    reset(next: DefinitionFile) {
      setBase(next);
      setText(next.definition);
      setRestored(false);
    },
    /** To be called when a text is saved; edits since then stay. */
    settle(next: DefinitionFile) {
      setBase(next);
      setRestored(false);
    },
  };
}
