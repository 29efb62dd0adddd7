/** The settings of a workspace that affect plans and applies. */
import { useState } from 'react';
import { AgentPoolSelect } from '../agents/agent-pool-select.tsx';
import { type Resource, relatedOne } from '../api/workspaces-api.ts';
import { Input, Label, Pair } from '../components/fields.tsx';
import { Card } from '../components/page.tsx';
import { Select } from '../components/select.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditForm } from '../editing/edit-form.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import type { WorkspaceAttributes } from './workspace.ts';

const MODES = [
  ['local', 'on the machine of whoever starts them; only the state is kept here'],
  ['agent', 'by agents of a pool'],
  ['remote', 'by the executors of this server'],
] as const;

/** The fields are named as the attributes. */
const valuesOf = (workspace: Resource<WorkspaceAttributes>) => {
  const { attributes } = workspace;
  return {
    name: attributes.name,
    description: attributes.description ?? '',
    'execution-mode': attributes['execution-mode'],
    'agent-pool-id': relatedOne(workspace, 'agent-pool')?.id ?? '',
    'terraform-version': attributes['terraform-version'] ?? 'latest',
    'working-directory': attributes['working-directory'] ?? '',
    'auto-apply': attributes['auto-apply'],
    'global-remote-state': attributes['global-remote-state'],
  };
};

type Values = ReturnType<typeof valuesOf>;

const ExecutionFields = ({ organization, values }: { organization: string; values: Values }) => {
  const [mode, setMode] = useState<string>(values['execution-mode']);
  return (
    <>
      <Label>
        Runs are executed
        <Select
          name="execution-mode"
          value={values['execution-mode']}
          options={MODES}
          onChange={setMode}
        />
      </Label>
      {mode === 'agent' && (
        <Label>
          Agent pool
          <AgentPoolSelect
            organization={organization}
            name="agent-pool-id"
            selected={values['agent-pool-id']}
          />
        </Label>
      )}
    </>
  );
};

const SettingsFields = ({ organization, values }: { organization: string; values: Values }) => (
  <>
    <Pair>
      <Label>
        Name
        <Input
          name="name"
          required
          autoComplete="off"
          pattern="[A-Za-z0-9_\-]+"
          defaultValue={values.name}
        />
      </Label>
      <Label>
        Description
        <Input name="description" autoComplete="off" defaultValue={values.description} />
      </Label>
    </Pair>
    <ExecutionFields organization={organization} values={values} />
    <Pair>
      <Label>
        Version of the tool
        <Input
          name="terraform-version"
          required
          autoComplete="off"
          defaultValue={values['terraform-version']}
        />
      </Label>
      <Label>
        Working directory (empty: the top)
        <Input
          name="working-directory"
          autoComplete="off"
          defaultValue={values['working-directory']}
        />
      </Label>
    </Pair>
    <Choice name="auto-apply" isTicked={values['auto-apply']}>
      Auto-apply: plans are applied without a confirmation
    </Choice>
    <Choice name="global-remote-state" isTicked={values['global-remote-state']}>
      Remote state sharing: every workspace of the organization may read the state
    </Choice>
  </>
);

export const SettingsForm = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
  /** Called with the new name, which is part of the page's URL. */
  onRenamed: (name: string) => void;
}) => (
  <Card title="Settings">
    <EditForm
      edits="workspace"
      label="Settings"
      save="Save settings"
      document={props.workspace}
      target={workspaceTarget<WorkspaceAttributes>(
        `workspaces/${props.workspace.id}`,
        'workspaces',
      )}
      valuesOf={valuesOf}
      bodyOf={(changed) => ({ attributes: changed })}
      fields={(values) => <SettingsFields organization={props.organization} values={values} />}
      onSaved={({ name }) => name !== undefined && props.onRenamed(name)}
    />
  </Card>
);
