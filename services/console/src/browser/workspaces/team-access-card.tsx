/** The access of teams to a workspace. */

import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type Resource,
  relatedOne,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { FieldSet, Label, SelectField } from '../components/fields.tsx';
import { inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Select } from '../components/select.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import type { CardProps } from './sharing-cards.tsx';

const LEVELS = {
  read: 'read: sees runs, variables and states',
  plan: 'plan: also starts plans',
  write: 'write: also applies, locks and sets variables',
  admin: 'admin: also changes settings and team access, and deletes',
} satisfies Record<Exclude<Grant['access'], typeof CUSTOM>, string>;

const CUSTOM = 'custom';

type Grant = ResourceAttributes['team-workspaces'];

/** The rights of a custom access that are chosen from several, by attribute. */
const CUSTOM_RIGHTS = [
  ['runs', 'Runs', ['read', 'plan', 'apply']],
  ['variables', 'Variables', ['none', 'read', 'write']],
  ['state-versions', 'States', ['none', 'read-outputs', 'read', 'write']],
] as const;

/** The rights of a custom access in words: "custom: runs apply, variables write, locking". */
const accessInWords = (grant: Grant): string =>
  grant.access === CUSTOM
    ? `custom: ${[
        ...CUSTOM_RIGHTS.map(([name, words]) => `${words.toLowerCase()} ${grant[name]}`),
        ...(grant['workspace-locking'] ? ['locking'] : []),
      ].join(', ')}`
    : grant.access;

const valuesOf = ({ attributes }: { readonly attributes: Grant }) => ({
  access: attributes.access,
  runs: attributes.runs,
  variables: attributes.variables,
  'state-versions': attributes['state-versions'],
  'workspace-locking': attributes['workspace-locking'],
});

type Values = ReturnType<typeof valuesOf>;

/** A custom access begins with the rights that the form shows, and not with the fewest. */
const changedGrant = (changed: Partial<Values>, newest: { readonly attributes: Grant }) => ({
  attributes: changed.access === CUSTOM ? { ...valuesOf(newest), ...changed } : changed,
});

const AccessFields = ({ values }: { values: Values }) => {
  const [access, setAccess] = useState<string>(values.access);
  return (
    <>
      <Label>
        Access
        <Select
          name="access"
          value={values.access}
          options={[...Object.entries(LEVELS), [CUSTOM, 'custom: the rights below']]}
          onChange={setAccess}
        />
      </Label>
      {access === CUSTOM && (
        <FieldSet>
          <legend>Rights</legend>
          {CUSTOM_RIGHTS.map(([name, words, levels]) => (
            <Label key={name}>
              {words}
              <Select
                name={name}
                value={values[name]}
                options={levels.map((level) => [level, inWords(level)] as const)}
              />
            </Label>
          ))}
          <Choice name="workspace-locking" isTicked={values['workspace-locking']}>
            Locking
          </Choice>
        </FieldSet>
      )}
    </>
  );
};

const teamIdOf = (grant: Resource<Grant>): string => relatedOne(grant, 'team')?.id ?? '';

export const TeamAccessCard = ({ organization, workspace }: CardProps) => {
  const list = `team-workspaces?filter[workspace][id]=${workspace.id}&page[size]=100`;
  const query = useDocument<ListDocument<Grant>>(list);
  const teams = useDocument<ListDocument<{ name: string }>>(
    `organizations/${encodeURIComponent(organization)}/teams?page[size]=100`,
  );
  const nameOf = (id: string): string =>
    teams.data?.data.find((team) => team.id === id)?.attributes.name ?? id;
  const given = query.data?.data.map(teamIdOf) ?? [];
  const mayChange = workspace.attributes.permissions['can-update'];
  const newBody = (teamId: string, access: string): object => ({
    data: {
      type: 'team-workspaces',
      attributes: { access },
      relationships: {
        team: { data: { type: 'teams', id: teamId } },
        workspace: { data: { type: 'workspaces', id: workspace.id } },
      },
    },
  });
  return (
    <Card
      title="Teams"
      actions={
        mayChange && (
          <ActionButton
            label="Give a team access"
            title={`Give a team access to ${workspace.attributes.name}`}
            confirm="Give access"
            act={({ text }) =>
              callWorkspaces('POST', 'team-workspaces', {
                body: newBody(text('team'), text('access')),
              })
            }
            commands={[workspacesCurl('POST', 'team-workspaces', newBody('team-…', 'read'))]}
          >
            <Label>
              Team
              <SelectField name="team" required>
                {teams.data?.data
                  .filter(
                    ({ id, attributes }) => !given.includes(id) && attributes.name !== 'owners',
                  )
                  .map(({ id, attributes }) => (
                    <option key={id} value={id}>
                      {attributes.name}
                    </option>
                  ))}
              </SelectField>
            </Label>
            <Label>
              Access
              <Select name="access" value="read" options={Object.entries(LEVELS)} />
            </Label>
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              Only owners, and teams with rights on the whole organization or project, may use it.
            </Empty>
          ) : (
            <DataTable
              label="Teams"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Team', isName: true, cell: (grant) => nameOf(teamIdOf(grant)) },
                { title: 'Access', cell: ({ attributes }) => accessInWords(attributes) },
                {
                  title: 'Actions',
                  isActions: true,
                  cell: (grant) =>
                    mayChange && (
                      <>
                        <EditButton
                          edits="team-access"
                          label="Change"
                          name={`Change the access of ${nameOf(teamIdOf(grant))}`}
                          look="small"
                          title={`Change the access of ${nameOf(teamIdOf(grant))}`}
                          target={workspaceTarget<Grant>(
                            `team-workspaces/${grant.id}`,
                            'team-workspaces',
                          )}
                          valuesOf={valuesOf}
                          bodyOf={changedGrant}
                          fields={(values) => <AccessFields values={values} />}
                        />
                        <DeleteButton
                          label="Remove"
                          what={`the access of ${nameOf(teamIdOf(grant))}`}
                          name={`Remove ${nameOf(teamIdOf(grant))}`}
                          path={`team-workspaces/${grant.id}`}
                        >
                          Its members keep only what other teams, the project and the organization
                          give them.
                        </DeleteButton>
                      </>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', list)]} />
    </Card>
  );
};
