import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';

interface ChoiceProps<T extends string> {
  readonly label: string;
  /** Labels by id, in their order. */
  readonly options: Readonly<Partial<Record<T, string>>>;
  readonly selected: T;
  readonly onSelect: (id: T) => void;
}

/** Tabs by the ARIA pattern: arrow keys move between them. */
export function Tabs<T extends string>(props: ChoiceProps<T> & { readonly children: ReactNode }) {
  const { label, options, selected, onSelect, children } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const ids = idsOf(options);
    const at = ids.indexOf(selected);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = to === undefined ? undefined : ids.at(to % ids.length);
    if (tab === undefined) return;
    event.preventDefault();
    onSelect(tab);
    list.current?.querySelector<HTMLElement>(`[data-tab="${tab}"]`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {idsOf(options).map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            data-tab={tab}
            id={`${id}-${tab}`}
            aria-selected={tab === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab === selected ? 0 : -1}
            onClick={() => onSelect(tab)}
          >
            {options[tab]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} className="tab-panel">
        {children}
      </div>
    </>
  );
}

/** A choice between a few visible options. */
export function Segmented<T extends string>({ label, options, selected, onSelect }: ChoiceProps<T>) {
  const name = useId();
  return (
    <div className="segmented" role="radiogroup" aria-label={label}>
      {idsOf(options).map((id) => (
        <label key={id}>
          <input type="radio" name={name} checked={id === selected} onChange={() => onSelect(id)} />
          <span>{options[id]}</span>
        </label>
      ))}
    </div>
  );
}

function idsOf<T extends string>(options: Readonly<Partial<Record<T, string>>>): readonly T[] {
  return Object.keys(options) as T[]; // an object literal has no others
}
