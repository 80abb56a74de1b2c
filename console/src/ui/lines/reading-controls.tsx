import { useMemo } from 'react';
import { usePreference } from '../../preference.ts';
import { QuietButton } from '../button.tsx';
import type { Line } from './line.ts';

/** How many lines are looked at for terminal codes: what sends them sends them often. */
const LOOKED_AT = 200;
const ESCAPE = '\u001b';

/** How messages are shown, in every list of this browser. */
export function ReadingControls({ lines }: { readonly lines: readonly Line[] }) {
  const { preference, change } = usePreference();
  const { wrap, ansi } = preference;
  const hasCodes = useMemo(
    () => lines.slice(0, LOOKED_AT).some(({ message }) => message.slice(0, 2_000).includes(ESCAPE)),
    [lines],
  );
  return (
    <>
      <QuietButton
        aria-pressed={wrap}
        title="Show long messages in several lines"
        onClick={() => change({ wrap: !wrap })}
      >
        Wrap
      </QuietButton>
      {hasCodes && (
        <QuietButton
          aria-pressed={ansi}
          title="Draw the colours of terminal codes"
          onClick={() => change({ ansi: !ansi })}
        >
          Colours
        </QuietButton>
      )}
    </>
  );
}
