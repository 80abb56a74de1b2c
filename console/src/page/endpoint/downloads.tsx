import { useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { queryPath } from './use-run.ts';

interface DownloadsProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
}

/** Saves the answer as a file in each format; none if `format` is a parameter of the endpoint's own. */
export function Downloads({ endpoint, values }: DownloadsProps) {
  const client = useClient();
  const [state, setState] = useState<{ readonly busy?: string; readonly error?: ApiError }>({});
  const raise = useRaise();
  const save = async (format: string) => {
    setState({ busy: format });
    try {
      const { blob } = await client.callRaw(queryPath(endpoint.name, { ...values, format }));
      saveFile(blob, `${endpoint.name}.${format}`);
      setState({});
    } catch (error) {
      if (!(error instanceof ApiError)) return raise(error);
      setState({ error });
    }
  };
  if (endpoint.formats.length === 0) return null;
  return (
    <>
      <div className="downloads small">
        <span className="muted">Download</span>
        {endpoint.formats.map((format) => (
          <button
            key={format}
            type="button"
            className="button quiet"
            disabled={state.busy !== undefined}
            onClick={() => void save(format)}
          >
            {format}
          </button>
        ))}
      </div>
      {state.error !== undefined && <ErrorNote error={state.error} />}
    </>
  );
}
