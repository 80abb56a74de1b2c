import type { Notice } from '../../../../src/management/view.ts';

const TITLES: Readonly<Record<Notice['topic'], string>> = {
  retention: 'Retention has stopped',
  roles: 'People have no access',
  storing: 'Nothing can be stored',
  alerts: 'Alerts are not evaluated',
};

/** Notices that need an operator, although queries are still served. */
export function NoticeBanner({ notices }: { readonly notices: readonly Notice[] }) {
  return notices.map(({ topic, message }) => (
    <div key={topic} className="note is-bad" role="alert">
      <strong>{TITLES[topic]}</strong>
      <span>{message}</span>
    </div>
  ));
}
