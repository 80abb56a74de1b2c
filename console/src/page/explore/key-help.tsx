import { CloseAction } from '../../ui/close-action.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/'], 'write a search; Enter runs it and goes to the lines'],
  [['j', 'k'], 'next or previous line; on a line also ↓ and ↑'],
  [['Enter'], 'open the line, or close it'],
  [['Esc'], 'close what is open, or leave a field'],
  [['Tab'], 'reach everything else: values of an open line have a menu'],
  [
    ['←', '→'],
    'on the chart: walk through the time buckets; with Shift select some, Enter zooms to them, m marks them to compare',
  ],
  [['[', ']'], 'the range of time before, or after'],
  [['o'], 'a range of twice the length'],
  [['?'], 'this list'],
];

/** The keyboard shortcuts of the page. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="explore-keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CloseAction onClose={onClose} />
    </Dialog>
  );
}
