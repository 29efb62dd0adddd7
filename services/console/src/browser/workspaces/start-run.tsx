/** A run that somebody starts here, with all that a run can be asked for. */
import { useNavigate } from '@tanstack/react-router';
import { callWorkspaces, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Details, Summary } from '../components/details.tsx';
import { Input, Label, SelectField, TextArea } from '../components/fields.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

/** Kinds of runs, with the attributes that ask for each. */
export const RUN_KINDS = {
  apply: ['Plan and apply', {}],
  plan: ['Plan only', { 'plan-only': true }],
  refresh: ['Refresh the state', { 'refresh-only': true }],
  empty: ['Apply even if nothing changes', { 'allow-empty-apply': true }],
} as const;

const isKind = (name: string): name is keyof typeof RUN_KINDS => Object.hasOwn(RUN_KINDS, name);

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** "region = "eu"" as a variable of the run. @throws Error for a line without a name */
const toVariable = (line: string) => {
  const [, key, value] = /^([\w-]+) *= *(\S.*)$/.exec(line) ?? [];
  if (key === undefined || value === undefined)
    throw new Error(`"${line}" is not a variable: write name = "text", or another expression.`);
  return { key, value };
};

/** The attributes of a run that the fields of a dialog ask for. */
export const runAttributes = (fields: Fields): object => {
  const kind = fields.text('kind');
  const version = fields.text('version').trim();
  const targets = linesOf(fields.text('targets'));
  const replaced = linesOf(fields.text('replaced'));
  const variables = linesOf(fields.text('variables')).map(toVariable);
  return {
    message: fields.text('message'),
    ...(isKind(kind) && RUN_KINDS[kind][1]),
    ...(targets.length > 0 && { 'target-addrs': targets }),
    ...(replaced.length > 0 && { 'replace-addrs': replaced }),
    ...(version !== '' && { 'terraform-version': version }),
    ...(variables.length > 0 && { variables }),
  };
};

/** The request of a run. */
export const runBody = (workspaceId: string, attributes: object): object => ({
  data: {
    type: 'runs',
    attributes,
    relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
  },
});

const Options = () => (
  <>
    <Label>
      What to do
      <SelectField name="kind" defaultValue="apply">
        {Object.entries(RUN_KINDS).map(([name, [title]]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </SelectField>
    </Label>
    <Details hasFields>
      <Summary>More options</Summary>
      <Label>
        Only these resources, an address on each line
        <TextArea name="targets" rows={2} isCode />
      </Label>
      <Label>
        Replace these resources, an address on each line
        <TextArea name="replaced" rows={2} isCode />
      </Label>
      <Label>
        Variables of this run, name = expression on each line
        <TextArea name="variables" rows={2} isCode placeholder={'region = "eu"'} />
      </Label>
      <Label>
        Version, for a run that only plans
        <Input name="version" autoComplete="off" />
      </Label>
    </Details>
  </>
);

export const StartRun = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
  isDestroy: boolean;
}) => {
  const { organization, isDestroy } = props;
  const { id, attributes } = props.workspace;
  const { name } = attributes;
  const navigate = useNavigate();
  const start = async (fields: Fields): Promise<void> => {
    const asked = isDestroy
      ? { message: fields.text('message'), 'is-destroy': true }
      : runAttributes(fields);
    const { data } = await callWorkspaces<OneDocument<unknown>>('POST', 'runs', {
      body: runBody(id, asked),
    });
    await navigate({
      to: '/app/$organization/$workspace/runs/$run',
      params: { organization, workspace: name, run: data.id },
    });
  };
  return (
    <ActionButton
      label={isDestroy ? 'Plan to destroy' : 'Start a run'}
      title={isDestroy ? `Plan to destroy what ${name} manages` : `Start a run in ${name}`}
      {...(!isDestroy && { opensAt: `start-run-${id}` })}
      confirm={isDestroy ? 'Plan the destruction' : 'Start'}
      tone={isDestroy ? 'danger' : 'primary'}
      act={start}
      commands={[
        workspacesCurl('POST', 'runs', runBody(id, { message: '', 'is-destroy': isDestroy })),
        { tool: 'terraform', text: isDestroy ? 'terraform destroy' : 'terraform apply' },
      ]}
    >
      <p>
        {attributes['auto-apply']
          ? 'It is planned with the newest configuration, and applied by itself.'
          : 'It is planned with the newest configuration; nothing changes until somebody confirms.'}
      </p>
      {!isDestroy && <Options />}
      <Label>
        Why
        <Input name="message" required autoComplete="off" defaultValue="Started in the console" />
      </Label>
    </ActionButton>
  );
};
