/** Variable sets of an organization: variables that many workspaces share. */

import { getRouteApi } from '@tanstack/react-router';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  type Resource,
  type ResourceId,
} from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { counted } from '../components/format.ts';
import { Card, Page, PageActions } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { ItemWithButtons, PlainList } from '../components/plain-list.tsx';
import { PartHeading } from '../components/text.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { VariableList } from '../variables/variable-list.tsx';
import { WorkspaceSelect } from '../workspaces/workspace-select.tsx';

/** Each set reads its variables. */
const SETS_SHOWN = 20;
const route = getRouteApi('/app/$organization/variable-sets');

type VariableSet = ResourceAttributes['varsets'];

const bodyOf = ({ text, isChecked }: Fields): object => ({
  data: {
    type: 'varsets',
    attributes: {
      name: text('name'),
      description: text('description'),
      global: isChecked('global'),
      priority: isChecked('priority'),
    },
  },
});
const EXAMPLE = bodyOf({ text: () => '…', isChecked: () => false });

const valuesOf = ({ attributes }: Resource<VariableSet>) => ({
  name: attributes.name,
  description: attributes.description ?? '',
  global: attributes.global,
  priority: attributes.priority,
});

type Values = ReturnType<typeof valuesOf>;

const NEW_SET: Values = { name: '', description: '', global: false, priority: false };

const SetFields = ({ values }: { values: Values }) => (
  <>
    <Label>
      Name
      <Input name="name" required autoComplete="off" defaultValue={values.name} />
    </Label>
    <Label>
      Description (optional)
      <Input name="description" autoComplete="off" defaultValue={values.description} />
    </Label>
    <Choice name="global" isTicked={values.global}>
      For every workspace of the organization
    </Choice>
    <Choice name="priority" isTicked={values.priority}>
      Overwrites the variables of workspaces
    </Choice>
  </>
);

const workspacesBody = (id: string): object => ({ data: [{ type: 'workspaces', id }] });

/** Whether the caller may change the set; one that a project owns may be changed through the project. */
const useMayManage = (set: Resource<VariableSet>, mayManageAll: boolean): boolean => {
  const owner = set.relationships?.['parent']?.data as ResourceId | undefined;
  const isOfProject = owner?.type === 'projects';
  const { data } = useDocument<
    OneDocument<{ readonly permissions: { readonly 'can-manage-varsets': boolean } }>
  >(`projects/${owner?.id ?? ''}`, { enabled: isOfProject });
  return isOfProject
    ? data?.data.attributes.permissions['can-manage-varsets'] === true
    : mayManageAll;
};

const SetCard = ({
  organization,
  set,
  mayManageAll,
}: {
  organization: string;
  set: Resource<VariableSet>;
  /** Whether the caller may change the sets that the organization owns. */
  mayManageAll: boolean;
}) => {
  const { id, attributes } = set;
  const mayChange = useMayManage(set, mayManageAll);
  const path = `varsets/${id}`;
  const scope = `${path}/relationships/workspaces`;
  const applied = (set.relationships?.['workspaces']?.data ?? []) as readonly ResourceId[];
  const { data: all } = useDocument<ListDocument<{ name: string }>>(
    `organizations/${encodeURIComponent(organization)}/workspaces?page[size]=100`,
  );
  const nameOf = (workspaceId: string): string =>
    all?.data.find((one) => one.id === workspaceId)?.attributes.name ?? workspaceId;
  return (
    <Card
      title={attributes.name}
      actions={
        mayChange && (
          <PageActions>
            <EditButton
              edits="variable-set"
              label="Edit"
              name={`Edit ${attributes.name}`}
              look="small"
              title={`Edit the variable set ${attributes.name}`}
              target={workspaceTarget<VariableSet>(path, 'varsets')}
              valuesOf={valuesOf}
              bodyOf={(changed) => ({ attributes: changed })}
              fields={(values) => <SetFields values={values} />}
            />
            <DeleteButton
              what={`the variable set ${attributes.name}`}
              name={`Delete ${attributes.name}`}
              path={path}
              typed={attributes.name}
            >
              Runs of every workspace that it reaches do without its variables from now on.
            </DeleteButton>
          </PageActions>
        )
      }
    >
      <PillRow>
        {attributes.global ? (
          <Pill tone="accent">every workspace</Pill>
        ) : (
          <Pill>{counted(attributes['workspace-count'], 'workspace')}</Pill>
        )}
        {attributes['project-count'] > 0 && (
          <Pill>{counted(attributes['project-count'], 'project')}</Pill>
        )}
        {attributes.priority && <Pill tone="busy">overwrites</Pill>}
      </PillRow>
      {attributes.description !== null && attributes.description !== '' && (
        <p>{attributes.description}</p>
      )}
      {!attributes.global && (
        <>
          <PartHeading>Workspaces</PartHeading>
          <PlainList aria-label={`Workspaces of ${attributes.name}`}>
            {applied.map(({ id: workspaceId }) => (
              <ItemWithButtons key={workspaceId}>
                {nameOf(workspaceId)}{' '}
                {mayChange && (
                  <DeleteButton
                    label="Remove"
                    what={`${nameOf(workspaceId)} from ${attributes.name}`}
                    name={`Remove ${nameOf(workspaceId)} from ${attributes.name}`}
                    path={scope}
                    body={workspacesBody(workspaceId)}
                  >
                    Its runs do without these variables from now on.
                  </DeleteButton>
                )}
              </ItemWithButtons>
            ))}
          </PlainList>
          {mayChange && (
            <FormActions>
              <ActionButton
                label="Apply to a workspace"
                name={`Apply to a workspace: ${attributes.name}`}
                look="small"
                title={`Apply ${attributes.name} to a workspace`}
                confirm="Apply"
                act={({ text }) =>
                  callWorkspaces('POST', scope, { body: workspacesBody(text('workspace')) })
                }
                commands={[workspacesCurl('POST', scope, workspacesBody('ws-…'))]}
              >
                <WorkspaceSelect
                  organization={organization}
                  without={applied.map((one) => one.id)}
                  label="Workspace"
                />
              </ActionButton>
            </FormActions>
          )}
        </>
      )}
      <VariableList
        path={`${path}/relationships/vars`}
        owner={attributes.name}
        mayChange={mayChange}
      />
    </Card>
  );
};

export const VariableSetsPage = () => {
  const { organization } = route.useParams();
  const path = `organizations/${encodeURIComponent(organization)}/varsets`;
  const mayManage = useOrganizationPermissions(organization)('can-manage-varsets');
  return (
    <Page
      title="Variable sets"
      windowTitle={`Variable sets of ${organization}`}
      lead={`in ${organization}: variables that many workspaces share.`}
      actions={
        mayManage && (
          <ActionButton
            label="Create variable set"
            title={`Create a variable set in ${organization}`}
            confirm="Create"
            tone="primary"
            act={(fields) => callWorkspaces('POST', path, { body: bodyOf(fields) })}
            commands={[workspacesCurl('POST', path, EXAMPLE)]}
          >
            <SetFields values={NEW_SET} />
          </ActionButton>
        )
      }
    >
      <PagedList<VariableSet>
        name="sets"
        path={path}
        size={SETS_SHOWN}
        empty="There is no variable set in this organization that this token may see."
      >
        {({ data }) =>
          data.map((set) => (
            <SetCard key={set.id} organization={organization} set={set} mayManageAll={mayManage} />
          ))
        }
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Page>
  );
};
