/** Type, buttons, fields and messages. */
import { useState } from 'react';
import { ActionButton } from '../components/action-button.tsx';
import { ActionMenu } from '../components/action-menu.tsx';
import { Anchor } from '../components/anchor.tsx';
import { Button } from '../components/button.tsx';
import { Commands } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { FormActions, Input, Label, TextArea } from '../components/fields.tsx';
import { Lifetime } from '../components/lifetime.tsx';
import { Card, Empty, Problem } from '../components/page.tsx';
import { Select } from '../components/select.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Tabs } from '../components/tabs.tsx';
import { CardHeading, Code, PageHeading, PartHeading, Small } from '../components/text.tsx';
import { Choice } from '../editing/choice.tsx';
import { Fault, FaultsOfForm } from '../editing/faults.tsx';

const Type = () => (
  <Card title="Type">
    <PageHeading>Heading of a page</PageHeading>
    <CardHeading>Heading of a card</CardHeading>
    <PartHeading>Heading of a part</PartHeading>
    <p>
      Text of a page, <Anchor href="#type">a link</Anchor>, <strong>strong text</strong>,{' '}
      <Code>code 0123456789</Code> and <Small>a hint.</Small>
    </p>
  </Card>
);

const Buttons = () => (
  <Card title="Buttons">
    <p>
      <Button>Save</Button> <Button look="primary">Start run</Button>{' '}
      <Button look="danger">Delete</Button> <Button look="plain">Sign out</Button>{' '}
      <Button look="link">Try again</Button> <CopyButton text="run-1" label="Copy the id" />
    </p>
    <p>
      <Button disabled>Save</Button>{' '}
      <Button look="primary" disabled>
        Start run
      </Button>
    </p>
    <FormActions>
      <ActionButton
        label="Revoke"
        title="Revoke this certificate?"
        confirm="Revoke certificate"
        tone="danger"
        commands={[]}
        act={() => Promise.resolve()}
      >
        <p>Whoever has it can use it no more. This cannot be undone.</p>
      </ActionButton>
      <ActionMenu
        name="More actions: ada"
        actions={[
          {
            label: 'Suspend',
            title: 'Suspend ada?',
            confirm: 'Suspend',
            tone: 'danger',
            commands: [],
            act: () => Promise.resolve(),
            children: <p>The person cannot sign in.</p>,
          },
        ]}
      />
    </FormActions>
    <Commands
      commands={[{ tool: 'curl', text: 'curl -s https://keelson.example/v1/sys/health' }]}
    />
  </Card>
);

const OPTIONS = [
  ['remote', 'Remote'],
  ['local', 'Local'],
  ['agent', 'Agent'],
] as const;

const Fields = () => (
  <Card title="Fields">
    <form>
      <FaultsOfForm value={new Map([['name', 'is taken by another workspace']])}>
        <Label>
          Name
          <Input name="name" defaultValue="network" />
          <Fault of="name" />
        </Label>
      </FaultsOfForm>
      <Label>
        Description
        <TextArea name="description" placeholder="Optional" rows={2} />
      </Label>
      <Label>
        Execution mode
        <Select name="mode" value="remote" options={OPTIONS} />
      </Label>
      <Lifetime name="ttl" value="36h" label="Lifetime" />
      <Choice name="auto-apply" isTicked>
        Auto-apply
      </Choice>
      <Choice name="drift" isTicked={false} isDisabled>
        Drift detection
      </Choice>
    </form>
  </Card>
);

const Messages = () => (
  <Card title="Messages">
    <Problem>The token has expired or was revoked.</Problem>
    <ShownOnce what="the token" secret="hvs.example">
      Keep it in a safe place.
    </ShownOnce>
    <Empty>No workspace has this name.</Empty>
  </Card>
);

/** Comes last: what follows it would be hidden. */
export const LoadingContent = () => (
  <Card title="Loading content">
    <Skeleton />
  </Card>
);

const TABS = (['overview', 'runs', 'states'] as const).map((name) => ({
  name,
  title: name.charAt(0).toUpperCase() + name.slice(1),
  content: () => <p>The content of {name}.</p>,
}));

const TabsCard = () => {
  const [selected, select] = useState<'overview' | 'runs' | 'states'>('runs');
  return (
    <Card title="Tabs">
      <Tabs label="Parts" items={TABS} selected={selected} onSelect={select} />
    </Card>
  );
};

export const Controls = () => (
  <>
    <Type />
    <Buttons />
    <Fields />
    <Messages />
    <TabsCard />
  </>
);
