import { QuietButton } from '../../ui/button.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { useExploring } from './exploring.ts';

/** The sources to search, ticked in a list. */
export function SourceChoice() {
  const { address, change, sources } = useExploring();
  const chosen = address.source;
  const names = sources.map(({ name }) => name);
  // A search that names no source leaves out those of Tailrace itself.
  const usual = sources.filter(({ internal }) => !internal).map(({ name }) => name);
  // A shared address may name sources that this key may not search: they can be unticked.
  const unknown = chosen.filter((name) => !names.includes(name));
  const isTicked = (name: string) => (chosen.length === 0 ? usual : chosen).includes(name);
  const areUsual = (next: readonly string[]) =>
    next.length === usual.length && next.every((name) => usual.includes(name));
  const set = (next: readonly string[]) => change({ source: areUsual(next) ? [] : next });
  const toggle = (name: string) => {
    const ticked = [...names.filter(isTicked), ...unknown];
    set(ticked.includes(name) ? ticked.filter((one) => one !== name) : [...ticked, name]);
  };
  return (
    <Popover
      title="Sources"
      label={
        <>
          <span className="visually-hidden">Sources: </span>
          <span className="explore-chosen">{describe(chosen)}</span>
          <span className="popover-caret" aria-hidden="true" />
        </>
      }
    >
      {() => (
        <fieldset className="explore-sources" aria-label="Sources to search">
          <QuietButton aria-pressed={chosen.length === 0} onClick={() => change({ source: [] })}>
            All sources
          </QuietButton>
          {[...sources, ...unknown.map((name) => ({ name, description: 'unknown to this key' }))].map(
            ({ name, description }) => (
              <div key={name} className="explore-source">
                <label className="field-check" title={description}>
                  <input
                    type="checkbox"
                    checked={isTicked(name)}
                    disabled={chosen.length === 1 && chosen[0] === name}
                    onChange={() => toggle(name)}
                  />
                  {name}
                </label>
                <QuietButton aria-label={`Only ${name}`} onClick={() => change({ source: [name] })}>
                  only
                </QuietButton>
              </div>
            ),
          )}
        </fieldset>
      )}
    </Popover>
  );
}

function describe(chosen: readonly string[]): string {
  const [first] = chosen;
  if (first === undefined) return 'All sources';
  return chosen.length === 1 ? first : `${chosen.length} sources`;
}
