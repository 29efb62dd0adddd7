/** Type, buttons, fields and messages. */
import { useState } from 'react';
import { ActionButton } from '../components/action-button.tsx';
import { Commands } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Lifetime } from '../components/lifetime.tsx';
import { Skeleton } from '../components/loaded.tsx';
import { Card, Empty, Problem } from '../components/page.tsx';
import { Select } from '../components/select.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Tabs } from '../components/tabs.tsx';
import { Choice } from '../editing/choice.tsx';
import { Fault, FaultsOfForm } from '../editing/faults.tsx';

const Type = () => (
  <Card title="Type">
    <h1>Heading of a page</h1>
    <h2>Heading of a card</h2>
    <h3>Heading of a part</h3>
    <p>
      Text of a page, <a href="#type">a link</a>, <strong>strong text</strong>,{' '}
      <code>code 0123456789</code> and <small>a hint.</small>
    </p>
  </Card>
);

const Buttons = () => (
  <Card title="Buttons">
    <p>
      <button type="button">Save</button>{' '}
      <button type="button" className="primary">
        Start run
      </button>{' '}
      <button type="button" className="danger">
        Delete
      </button>{' '}
      <button type="button" className="plain">
        Sign out
      </button>{' '}
      <button type="button" className="link">
        Try again
      </button>{' '}
      <CopyButton text="run-1" label="Copy the id" />
    </p>
    <p>
      <button type="button" disabled>
        Save
      </button>{' '}
      <button type="button" className="primary" disabled>
        Start run
      </button>
    </p>
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
    <form className="form">
      <FaultsOfForm value={new Map([['name', 'is taken by another workspace']])}>
        <label>
          Name
          <input name="name" defaultValue="network" />
          <Fault of="name" />
        </label>
      </FaultsOfForm>
      <label>
        Description
        <textarea name="description" placeholder="Optional" rows={2} />
      </label>
      <label>
        Execution mode
        <Select name="mode" value="remote" options={OPTIONS} />
      </label>
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
