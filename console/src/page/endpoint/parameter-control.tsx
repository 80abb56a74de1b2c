import { useId } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { Vocabulary } from '../../ui/editor/completion.ts';
import { Editor } from '../../ui/editor/editor.tsx';
import { describedBy } from '../../ui/field.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';

interface ParameterControlProps {
  readonly id: string;
  readonly parameter: EndpointView['parameters'][number];
  readonly value: string;
  readonly suggestions: readonly string[];
  readonly onChange: (value: string) => void;
  /** Set for a caller's SELECT, which is written in an editor. */
  readonly sql?: { readonly words: Vocabulary; readonly onRun: () => void } | undefined;
}

/** The control of a parameter, as the service names it. */
export function ParameterControl({
  id,
  parameter,
  value,
  suggestions,
  onChange,
  sql,
}: ParameterControlProps) {
  const { control, required, values, pinned, default: fallback } = parameter;
  const list = useId();
  const shared = { id, 'aria-describedby': describedBy(id), className: 'input', disabled: pinned !== null };
  if (sql !== undefined)
    return <Editor {...sql} language="sql" label="sql" value={value} onChange={onChange} />;
  if (control === 'choice') {
    return (
      <select {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
        {!required && fallback === '' && <option value="">any</option>}
        {!values.includes(value) && value !== '' && <option value={value}>{value}</option>}
        {values.map((one) => (
          <option key={one} value={one}>
            {one === fallback ? `${one} (default)` : one}
          </option>
        ))}
      </select>
    );
  }
  if (control === 'time')
    return <TimeControl {...shared} value={value} picks={AGO} clear="Clear" onChange={onChange} />;
  return (
    <>
      <input
        {...shared}
        {...INPUTS[control]}
        value={value}
        list={suggestions.length > 0 ? list : undefined}
        required={required}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

const INPUTS = {
  text: { type: 'text' },
  number: { type: 'number', step: 'any' },
  date: { type: 'date' },
  list: { type: 'text', placeholder: 'one, or several with commas between them' },
};

const AGO = [
  ['−15 min', -15 * 60_000],
  ['−1 h', -3_600_000],
  ['−1 d', -86_400_000],
] as const;
