import { useState } from 'react';
import type { EndpointView } from '../../../../../src/management/view.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/form.tsx';
import {
  findMove,
  PANELS_MAX,
  type Place,
  ROWS_MAX,
  readForm,
  withMove,
  withoutPanel,
  withPanel,
  withParameter,
  withRange,
} from './file-form.ts';
import { PanelFields, ParameterFields } from './panel-fields.tsx';

interface DashboardFormProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly endpoints: readonly EndpointView[];
}

/** Edits the text of a dashboard's file by fields and buttons. The text is the only state: the form shows what it says. */
export function DashboardForm({ text, onChange, endpoints }: DashboardFormProps) {
  const [chosen, setChosen] = useState<Place>([0, 0]);
  const form = readForm(text);
  if (form === undefined)
    return (
      <section className="panel dashboard-form" aria-label="Form">
        <p className="muted">The form is back as soon as the text is a dashboard again.</p>
      </section>
    );
  const { rows } = form;
  const row = Math.min(chosen[0], rows.length - 1);
  const panels = rows[row] ?? [];
  const at: Place = [row, Math.min(chosen[1], panels.length - 1)];
  const panel = panels[at[1]];
  const used = new Set(rows.flat().map(({ endpoint }) => endpoint));
  const declared = endpoints.filter(({ name }) => used.has(name)).flatMap((one) => one.parameters);
  const first = endpoints[0]?.name ?? '';
  const add = (place: Place) => {
    onChange(withPanel(text, place, first));
    setChosen(place);
  };
  const move = (by: -1 | 1) => {
    const to = findMove(form, at, by);
    if (to === undefined) return;
    const moved = withMove(text, at, to);
    onChange(moved.text);
    setChosen(moved.at);
  };
  return (
    <section className="panel dashboard-form" aria-label="Form">
      <TextField
        label="Range"
        help="Minutes, hours or days before now, such as 24h."
        placeholder="24h"
        value={form.range}
        onChange={(range) => onChange(withRange(text, range))}
      />
      <ParameterFields
        label="Shared parameters"
        values={form.parameters}
        declared={declared}
        onChange={(name, value) => onChange(withParameter(text, name, value))}
      />
      <PanelChoice rows={rows} at={at} onChoose={setChosen} />
      <div className="dashboard-form-actions">
        <Button disabled={panels.length >= PANELS_MAX || first === ''} onClick={() => add([row, at[1] + 1])}>
          Add a panel
        </Button>
        <Button disabled={rows.length >= ROWS_MAX || first === ''} onClick={() => add([rows.length, 0])}>
          Add a row
        </Button>
      </div>
      {panel !== undefined && (
        <PanelFields
          {...{ text, onChange, endpoints, panel, at }}
          onMove={move}
          mayMove={(by) => findMove(form, at, by) !== undefined}
          onRemove={rows.flat().length > 1 ? () => onChange(withoutPanel(text, at)) : undefined}
        />
      )}
    </section>
  );
}

interface PanelChoiceProps {
  readonly rows: NonNullable<ReturnType<typeof readForm>>['rows'];
  readonly at: Place;
  readonly onChoose: (at: Place) => void;
}

/** The panels as they lie on the page; one of them is edited. */
function PanelChoice({ rows, at, onChoose }: PanelChoiceProps) {
  return (
    <fieldset className="group dashboard-form-panels">
      <legend>Panels</legend>
      {rows.map((panels, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
        <div key={row} className="dashboard-form-row">
          {panels.map(({ title, endpoint, text }, i) => (
            <Button
              // biome-ignore lint/suspicious/noArrayIndexKey: a panel, too
              key={i}
              aria-pressed={row === at[0] && i === at[1]}
              onClick={() => onChoose([row, i])}
            >
              {title || endpoint || text || 'Empty'}
            </Button>
          ))}
        </div>
      ))}
    </fieldset>
  );
}
