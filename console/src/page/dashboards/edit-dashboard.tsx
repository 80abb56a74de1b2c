import { useCallback, useState } from 'react';
import { useParams } from 'wouter';
import type { DashboardCheck, DashboardView } from '../../../../src/management/dashboard-view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ErrorNote, PageHead, QuietButton } from '../../ui/page-part.tsx';
import { type FileCheck, FileText } from '../workbench/file-text.tsx';
import '../workbench/workbench.css';
import { OWN, usePageAddress } from '../../ui/page-address.ts';
import { DashboardBody } from './dashboard-body.tsx';

/** The file of a dashboard, with the page that it would be beside it. */
export function EditDashboard() {
  const { name = '' } = useParams();
  const { change } = usePageAddress();
  const { value: workbench, error } = useRead(queries.workbench);
  const [preview, setPreview] = useState<DashboardView>();
  const onCheck = useCallback((check: FileCheck) => {
    const { dashboard } = check as FileCheck & DashboardCheck; // the check of a dashboard
    if (dashboard !== null) setPreview(dashboard); // while a text has faults, the page before stays
  }, []);
  return (
    <div className="stack dashboard-edit">
      <PageHead title={name} />
      {error !== undefined && <ErrorNote error={error} />}
      {workbench !== undefined && (
        <FileText
          kind="dashboards"
          name={name}
          whyNotSaved={workbench.dashboards.reason}
          template={templateOf(name)}
          actions={
            <QuietButton onClick={() => change({ [`${OWN}edit`]: undefined })}>Close the editor</QuietButton>
          }
          onCheck={onCheck}
        />
      )}
      {preview !== undefined && (
        <section className="stack dashboard-preview" aria-label="Preview">
          <DashboardBody dashboard={preview} />
        </section>
      )}
    </div>
  );
}

function templateOf(name: string): string {
  return `name: ${name}
title: ${name}
description: What it is for.
range: 24h
parameters: {}
rows:
  - height: 240
    panels:
      - show: text
        title: Begin here
        text: Replace this panel by one with "endpoint" and the name of an endpoint.
`;
}
