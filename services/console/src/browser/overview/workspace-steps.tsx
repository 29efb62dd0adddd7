import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { useSession } from '../api/session.ts';
import { callWorkspaces, type ListDocument } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Input, Label } from '../components/fields.tsx';
import { inWords } from '../components/format.ts';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';
import { useIsSiteAdministrator } from '../organizations/site-switches.tsx';
import { hasEnded, type RunAttributes, runTone } from '../runs/run.ts';
import { UploadConfiguration } from '../workspaces/first-steps.tsx';
import type { WorkspaceAttributes } from '../workspaces/workspace.ts';
import type { Step } from './step.ts';

// The API allows 30 requests for lists of runs per minute, and other blocks of the page ask as well.
const RUN_EVERY_MS = 5_000;
const APPLIED_EVERY_MS = 10_000;

type Organization = ResourceAttributes['organizations'];

const bodyOf = (type: string, attributes: object): object => ({ data: { type, attributes } });

/** @param organization the one in which the workspace is created; it is created as well if there is none */
const createWorkspace = async (organization: string | undefined, fields: Fields): Promise<void> => {
  const owner = organization ?? fields.text('organization');
  if (organization === undefined)
    await callWorkspaces('POST', 'organizations', {
      body: bodyOf('organizations', { name: owner, email: fields.text('email') }),
    });
  await callWorkspaces('POST', `organizations/${encodeURIComponent(owner)}/workspaces`, {
    body: bodyOf('workspaces', { name: fields.text('name') }),
  });
};

const NAME = '[A-Za-z0-9_\\-]+';

const CreateFirstWorkspace = ({ organization }: { organization: string | undefined }) => (
  <ActionButton
    label="Create workspace"
    title="Create a workspace"
    confirm="Create"
    tone="primary"
    act={(fields) => createWorkspace(organization, fields)}
    commands={[
      workspacesCurl('POST', 'organizations', bodyOf('organizations', { name: '…', email: '…' })),
      workspacesCurl('POST', 'organizations/…/workspaces', bodyOf('workspaces', { name: '…' })),
    ]}
  >
    {organization === undefined && (
      <>
        <Label>
          Organization
          <Input name="organization" required autoComplete="off" pattern={NAME} />
        </Label>
        <Label>
          Address for mail
          <Input name="email" type="email" required autoComplete="off" />
        </Label>
      </>
    )}
    <Label>
      Name
      <Input name="name" required autoComplete="off" pattern={NAME} />
    </Label>
  </ActionButton>
);

/** The steps to the first applied workspace, for whoever may create one; none for others. */
export const useWorkspaceSteps = (): readonly Step[] => {
  const isSignedIn = useSession().workspaces !== undefined;
  const isSiteAdministrator = useIsSiteAdministrator(isSignedIn);
  const { data: organizations } = useDocument<ListDocument<Organization>>(
    'organizations?page[size]=1',
    { enabled: isSignedIn },
  );
  const organization = organizations?.data[0];
  const path = `organizations/${encodeURIComponent(organization?.id ?? '')}`;
  const { data: workspaces } = useDocument<ListDocument<WorkspaceAttributes>>(
    `${path}/workspaces?page[size]=1`,
    { enabled: organization !== undefined },
  );
  const workspace = workspaces?.data[0];
  const { data: applied } = useDocument<ListDocument<RunAttributes>>(
    `${path}/runs?page[size]=1&filter[status]=applied`,
    {
      enabled: workspace !== undefined,
      everyMs: (runs) => (runs?.data.length === 0 ? APPLIED_EVERY_MS : undefined),
    },
  );
  const isApplied = (applied?.data.length ?? 0) > 0;
  const { data: runs } = useDocument<ListDocument<RunAttributes>>(
    `workspaces/${workspace?.id}/runs?page[size]=1`,
    {
      enabled: workspace !== undefined && applied !== undefined && !isApplied,
      everyMs: RUN_EVERY_MS,
    },
  );
  const run = runs?.data[0];
  const mayCreate =
    organization === undefined
      ? isSiteAdministrator
      : organization.attributes.permissions['can-create-workspace'];
  if (organizations === undefined || !mayCreate) return [];
  if (organization !== undefined && workspaces === undefined) return [];
  if (workspace !== undefined && applied === undefined) return [];
  return [
    {
      title: 'Create a workspace.',
      isDone: workspace !== undefined,
      action: <CreateFirstWorkspace organization={organization?.id} />,
    },
    {
      title: 'Upload a configuration.',
      isDone: isApplied || (run !== undefined && !hasEnded(run.attributes.status)),
      action: workspace && <UploadConfiguration workspace={workspace} />,
    },
    {
      title: 'Apply its plan.',
      isDone: isApplied,
      action: run && organization && workspace && (
        <>
          <Pill tone={runTone(run.attributes.status)}>{inWords(run.attributes.status)}</Pill>{' '}
          <PageLink
            to="/app/$organization/$workspace/runs/$run"
            params={{
              organization: organization.id,
              workspace: workspace.attributes.name,
              run: run.id,
            }}
          >
            Open the run
          </PageLink>
        </>
      ),
    },
  ];
};
