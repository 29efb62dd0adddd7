/**
 * A button that does the same with several things. Its dialog shows what will happen to which and what is refused,
 * the progress, and the result of each.
 */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type Fields, fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { counted } from '../components/format.ts';
import { Modal } from '../components/modal.tsx';
import { Pill } from '../components/pill.tsx';
import { Progress } from '../components/progress.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Code, Under } from '../components/text.tsx';
import {
  type Bulk,
  countedOutcomes,
  countedVerdicts,
  type Line,
  OUTCOME_WORDS,
  ranked,
  titleOf,
  VERDICT_WORDS,
} from './bulk.ts';
import { type BulkSteps, useBulk } from './use-bulk.ts';

const NO_FIELDS: Fields = { text: () => '', isChecked: () => false };

const Becomes = ({ verdict, outcome }: Line<unknown>) => {
  const [tone, words] =
    outcome === undefined ? VERDICT_WORDS[verdict.kind] : OUTCOME_WORDS[outcome.kind];
  const more = outcome?.kind === 'failed' ? outcome.text : outcome ? '' : verdict.words;
  return (
    <>
      <Pill tone={tone}>{words}</Pill>
      {more !== '' && <Under>{more}</Under>}
    </>
  );
};

const Outcomes = ({ label, steps }: { label: string; steps: BulkSteps<unknown> }) => {
  const outcomes = steps.lines.flatMap(({ outcome }) => outcome ?? []);
  const wanted = steps.lines.filter(({ verdict }) => verdict.kind === 'changes').length;
  return (
    <>
      <p role="status" aria-label="Progress">
        {outcomes.length === 0
          ? `${countedVerdicts(steps.lines)}.`
          : `${outcomes.length.toLocaleString()} of ${wanted.toLocaleString()}: ${countedOutcomes(outcomes)}.`}
      </p>
      {steps.isWorking && <Progress aria-label={label} value={outcomes.length} max={wanted} />}
    </>
  );
};

const Dialog = <Thing,>(props: {
  bulk: Bulk<Thing>;
  things: readonly Thing[];
  onWorking: (isWorking: boolean) => void;
  onEnd: (left: readonly Thing[]) => void;
  onClose: () => void;
}) => {
  const { bulk, things, onWorking } = props;
  const form = useRef<HTMLFormElement>(null);
  const [fields, setFields] = useState(NO_FIELDS);
  const [typed, setTyped] = useState('');
  const steps = useBulk(bulk, things, fields, props.onEnd);
  const { lines, isRead, isWorking, isOver } = steps;
  useEffect(() => onWorking(isWorking), [isWorking, onWorking]);
  const recordFields = (): void => {
    if (form.current !== null) setFields(fieldsOf(form.current));
  };
  useEffect(recordFields, [isRead]);
  const changed = lines
    .filter(({ verdict }) => verdict.kind === 'changes')
    .map(({ thing }) => thing);
  const wanted = bulk.typed?.(changed);
  const [first] = changed;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    steps.start();
  };
  if (!isRead) return <Skeleton label={`Reading ${counted(things.length, bulk.noun)}`} />;
  return (
    <form ref={form} onSubmit={submit} onInput={recordFields}>
      {!isWorking && !isOver && (
        <>
          {bulk.children}
          {wanted !== undefined && (
            <Label>
              Type <Code>{wanted}</Code> to go on
              <Input
                value={typed}
                autoComplete="off"
                onChange={({ target }) => setTyped(target.value)}
              />
            </Label>
          )}
        </>
      )}
      <Outcomes label={bulk.label} steps={steps} />
      <DataTable
        label={`${bulk.label}: each ${bulk.noun}`}
        rows={ranked(lines)}
        keyOf={({ thing }) => bulk.idOf(thing)}
        columns={[
          { title: 'Name', isName: true, cell: ({ thing }) => bulk.nameOf(thing) },
          { title: isOver ? 'Result' : 'What happens', cell: Becomes },
        ]}
      />
      {first !== undefined && !isWorking && !isOver && (
        <Commands commands={bulk.commands(first, fields)} />
      )}
      <FormActions>
        {!isWorking && !isOver && (
          <Button
            type="submit"
            look={bulk.tone ?? 'primary'}
            disabled={changed.length === 0 || (wanted !== undefined && typed !== wanted)}
          >
            {titleOf(bulk, changed.length)}
          </Button>
        )}
        {isWorking ? (
          <Button onClick={steps.stop}>Stop</Button>
        ) : (
          <Button onClick={props.onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
        )}
      </FormActions>
    </form>
  );
};

export const BulkButton = <Thing,>(props: {
  bulk: Bulk<Thing>;
  things: readonly Thing[];
  /** Called after the dialog with the things that were to be changed and were not. */
  onEnd: (left: readonly Thing[]) => void;
}) => {
  const { bulk } = props;
  const [left, setLeft] = useState<readonly Thing[]>();
  // The things of the moment in which the button was pressed: the selection changes when the dialog ends.
  const [opened, setOpened] = useState<readonly Thing[]>();
  const [isWorking, setWorking] = useState(false);
  const close = (): void => {
    // Closing would hide what is being done; the dialog has a button to stop it.
    if (isWorking) return;
    setOpened(undefined);
    setLeft(undefined);
    if (left !== undefined) props.onEnd(left);
  };
  return (
    <>
      <Button
        look={bulk.tone === 'danger' ? 'danger' : undefined}
        aria-haspopup="dialog"
        onClick={() => setOpened(props.things)}
      >
        {bulk.label}
      </Button>
      <Modal
        title={titleOf(bulk, opened?.length ?? 0)}
        isOpen={opened !== undefined}
        onClose={close}
      >
        {opened !== undefined && (
          <Dialog
            bulk={bulk}
            things={opened}
            onWorking={setWorking}
            onEnd={setLeft}
            onClose={close}
          />
        )}
      </Modal>
    </>
  );
};
