import { useState } from 'react';
import type { HistoryVersionView, HistoryView } from '../../../../src/management/view.ts';
import { useRun } from '../../api/queries.ts';
import { formatTime } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField } from '../../ui/form.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { useKeyNames } from '../admin/key-name.tsx';
import type { DefinitionKind } from './api.ts';

type Version = HistoryView['result'][number];

interface HistoryButtonProps extends Compared {
  readonly kind: DefinitionKind;
  readonly name: string;
}

/** Opens earlier versions of a definition. */
export function HistoryButton({ kind, name, ...compared }: HistoryButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>History</Button>
      {isOpen && (
        <HistoryDialog
          {...compared}
          path={`/api/workbench/history/${kind}/${encodeURIComponent(name)}`}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface Compared {
  /** The texts under work by file name. */
  readonly mine: Readonly<Record<string, string>>;
  /** The same of a kept version. */
  readonly toFiles: (version: HistoryVersionView) => Readonly<Record<string, string>>;
  /** Puts a kept version into the editors. */
  readonly onRestore: (version: HistoryVersionView) => void;
}

interface HistoryDialogProps extends Compared {
  /** Path of the history, or of a version. */
  readonly path: string;
  readonly onClose: () => void;
}

/** Earlier versions of a definition: who saved them when, and what differs from the texts under work. */
function HistoryDialog({ path, onClose, ...compared }: HistoryDialogProps) {
  const read = useRun({
    key: [path],
    read: (client, signal) => client.call<HistoryView>(path, ['result'], { signal }),
  });
  const versions = read.state === 'done' ? read.value.result : [];
  const [chosen, setChosen] = useState<string>();
  const shown = versions.find(({ id }) => id === chosen) ?? versions[0];
  return (
    <Dialog title="History" onClose={onClose} wide>
      {read.state === 'failed' && <ErrorNote error={read.error} />}
      {read.state === 'running' && <p className="muted">Reading…</p>}
      {read.state === 'done' && shown === undefined && (
        <Empty title="No saves yet">Each save of the workbench is kept from now on.</Empty>
      )}
      {shown !== undefined && (
        <>
          <Choice versions={versions} shown={shown} onChoose={setChosen} />
          <Differences key={shown.id} {...compared} path={`${path}/${shown.id}`} onClose={onClose} />
        </>
      )}
      {shown === undefined && <CloseAction onClose={onClose} />}
    </Dialog>
  );
}

interface ChoiceProps {
  readonly versions: readonly Version[];
  readonly shown: Version;
  readonly onChoose: (id: string) => void;
}

function Choice({ versions, shown, onChoose }: ChoiceProps) {
  const zone = useZone();
  const names = useKeyNames();
  const byOf = ({ by }: Version) => (by === '' ? 'written outside of the workbench' : (names.get(by) ?? by));
  return (
    <ChoiceField
      label="Version"
      value={shown.id}
      options={versions.map((one) => [one.id, `${formatTime(Date.parse(one.at), zone)} · ${byOf(one)}`])}
      onChange={onChoose}
    />
  );
}

function Differences({ path, mine, toFiles, onRestore, onClose }: HistoryDialogProps) {
  const read = useRun({
    key: [path],
    read: (client, signal) => client.call<HistoryVersionView>(path, ['definition', 'version'], { signal }),
  });
  const version = read.state === 'done' ? read.value : undefined;
  const changed = Object.entries(version === undefined ? {} : toFiles(version)).filter(
    ([file, text]) => mine[file] !== text,
  );
  return (
    <>
      {read.state === 'failed' && <ErrorNote error={read.error} />}
      {version === undefined && read.state !== 'failed' && <p className="muted">Reading…</p>}
      {version !== undefined && changed.length === 0 && (
        <p className="muted">This is what the editor has now.</p>
      )}
      {changed.map(([file, text]) => (
        <TextDiff
          key={file}
          label={file}
          before={{ name: 'this version', text }}
          after={{ name: 'now', text: mine[file] ?? '' }}
        />
      ))}
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
        <Button
          look="primary"
          disabled={version === undefined || changed.length === 0}
          onClick={() => {
            if (version !== undefined) onRestore(version);
            onClose();
          }}
        >
          Restore, without saving
        </Button>
      </div>
    </>
  );
}
