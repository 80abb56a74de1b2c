import { useMutation } from '@tanstack/react-query';
import type { EndpointView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { QuietButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { queryPath } from './query-path.ts';

interface DownloadsProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

// Only programs read those, which ask for them by `format=` or `Accept`.
const OF_PROGRAMS = ['arrow', 'parquet'];

/** Saves the answer as a file in each format that people read; none if `format` is a parameter of the endpoint's own. */
export function Downloads({ endpoint, values }: DownloadsProps) {
  const client = useClient();
  const { mutate, isPending, error } = useMutation({
    async mutationFn(format: string) {
      const { blob } = await client.callRaw(queryPath(endpoint.name, { ...values, format }));
      saveFile(blob, `${endpoint.name}.${format}`);
    },
  });
  const formats = endpoint.formats.filter((format) => !OF_PROGRAMS.includes(format));
  if (formats.length === 0) return null;
  return (
    <>
      <div className="downloads small">
        <span className="muted">Download</span>
        {formats.map((format) => (
          <QuietButton key={format} disabled={isPending} onClick={() => mutate(format)}>
            {format}
          </QuietButton>
        ))}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
