import type { Fault } from '../../ui/editor/mount.ts';

interface FaultsProps<T> {
  readonly faults: readonly T[];
  readonly onShow: (fault: T) => void;
}

/** Every fault as a button that leads to its place. */
export function Faults<T extends { readonly file: string; readonly fault: Fault }>({
  faults,
  onShow,
}: FaultsProps<T>) {
  return (
    <div className="bench-faults">
      <div role="status" className="visually-hidden">
        {faults.length === 0 ? '' : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`}
      </div>
      {faults.length > 0 && (
        <ul aria-label="Faults">
          {faults.map((one) => {
            const { line, column, message } = one.fault;
            const place = [one.file, line, column].filter(Boolean).join(':');
            return (
              <li key={`${place} ${message}`}>
                <button type="button" onClick={() => onShow(one)}>
                  <code>{place}</code> {message}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
