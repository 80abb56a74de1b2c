import type { ReactNode } from 'react';
import type { SavedEndpoint } from '../../../../src/management/view.ts';

interface TestOutcomeProps {
  readonly tests: SavedEndpoint['tests'];
  /** What has been done before. */
  readonly children: ReactNode;
}

/** Says which tests of an endpoint failed. */
export function TestOutcome({ tests, children }: TestOutcomeProps) {
  const failed = tests.filter(({ passed }) => !passed);
  const outcome =
    tests.length === 0
      ? 'It has no tests.'
      : failed.length === 0
        ? `${tests.length === 1 ? 'Its test' : `All ${tests.length} tests`} passed.`
        : `${failed.length} of ${tests.length} tests failed:`;
  return (
    <div className={failed.length === 0 ? 'note is-info' : 'note is-bad'}>
      <span>
        {children} {outcome}
      </span>
      {failed.length > 0 && (
        <ul>
          {failed.map((test) => (
            <li key={test.name}>
              <strong>{test.name}</strong>
              <pre className="test-message">{test.message}</pre>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
