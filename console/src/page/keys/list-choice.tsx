import { Group } from '../../ui/group.tsx';
import { Segmented } from '../../ui/segmented.tsx';

interface ListChoiceProps {
  readonly legend: string;
  readonly items: readonly { readonly id: string; readonly name: string }[];
  /** Null: all. */
  readonly listed: readonly string[] | null;
  /** The limits of the signed-in key. */
  readonly own: readonly string[] | null;
  readonly fault: string | undefined;
  readonly onChange: (listed: readonly string[] | null) => void;
}

const SPANS = [
  { id: 'all', label: 'All' },
  { id: 'some', label: 'Only these' },
] as const;

/** All items, including future ones, or some by name. */
export function ListChoice({ legend, items, listed, own, fault, onChange }: ListChoiceProps) {
  // The service does not match UUIDs with names: an inherited list keeps its spelling.
  const spell = ({ id, name }: (typeof items)[number]) => (own?.includes(id) === true ? id : name);
  return (
    <Group
      legend={legend}
      help={own === null ? undefined : 'Your own key is limited to these.'}
      fault={fault}
    >
      <Segmented
        label={legend}
        options={own === null ? SPANS : SPANS.slice(1)}
        selected={listed === null ? 'all' : 'some'}
        onSelect={(id) => onChange(id === 'all' ? null : [])}
      />
      {listed !== null && (
        <div className="choices is-listed">
          {items.map((item) => (
            <label className="field-check" key={item.id}>
              <input
                type="checkbox"
                checked={listed.includes(spell(item))}
                onChange={(event) =>
                  onChange(
                    event.target.checked
                      ? [...listed, spell(item)]
                      : listed.filter((one) => one !== spell(item)),
                  )
                }
              />
              <code>{item.name}</code>
            </label>
          ))}
        </div>
      )}
    </Group>
  );
}
