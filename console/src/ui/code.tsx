import { showControls } from '../format/show.ts';
import { lazyPart } from './boundary/boundary.tsx';
import { CopyButton } from './page-part.tsx';

export type Language = 'bash' | 'javascript' | 'sql' | 'yaml';

const Highlighted = lazyPart(
  async () => (await import('./highlighted.tsx')).Highlighted,
  ({ text }) => text,
);

/** Code with a button that copies it. It is highlighted once the highlighter, which most pages never need, is loaded. */
export function Code(props: Readonly<{ text: string; language?: Language; label: string }>) {
  const { text, language, label } = props;
  const shown = showControls(text);
  return (
    <div className="code">
      <div className="code-bar">
        {label}
        <CopyButton text={text} />
      </div>
      <section className="code-text" aria-label={label} tabIndex={0}>
        <pre>
          <code>{language === undefined ? shown : <Highlighted text={shown} language={language} />}</code>
        </pre>
      </section>
    </div>
  );
}
