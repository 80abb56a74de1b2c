import { useLocation, useSearch } from 'wouter';
import { PageHead } from '../../ui/page-head.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import './admin.css';
import { RejectedEvents, RejectedRequests } from './rejected.tsx';
import { Usage } from './usage.tsx';

const PARTS = [
  { id: 'usage', label: 'Usage', part: Usage },
  { id: 'requests', label: 'Rejected requests', part: RejectedRequests },
  { id: 'events', label: 'Rejected events', part: RejectedEvents },
] as const;

/** What an operator looks after. `?show=` names the part. */
export default function AdminPage() {
  const [, navigate] = useLocation();
  const named = new URLSearchParams(useSearch()).get('show');
  const { id, part: Part } = PARTS.find((one) => one.id === named) ?? PARTS[0];
  return (
    <>
      <PageHead title="Admin">Who uses the service, and what it rejects.</PageHead>
      <div>
        <Tabs
          label="Parts of this page"
          tabs={PARTS}
          selected={id}
          onSelect={(next) => navigate(`/admin?show=${next}`, { replace: true })}
        >
          <Part />
        </Tabs>
      </div>
    </>
  );
}
