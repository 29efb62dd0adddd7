/**
 * The form of every thing that exists already. It sends the fields that the person has changed and no other one, to
 * what is stored at that moment; where somebody else has changed the same field meanwhile, the person decides.
 */
import {
  type FormEvent,
  Fragment,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { ApiProblem, messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import cardStyles from '../components/card.module.css';
import { type Command, Commands } from '../components/commands.tsx';
import { FormActions } from '../components/fields.tsx';
import modalStyles from '../components/modal.module.css';
import { Problem } from '../components/page.tsx';
import { type Conflict, Conflicts, decidedIn } from './conflicts.tsx';
import type { EditTarget } from './edit-target.ts';
import { type Faults, FaultsOfForm } from './faults.tsx';
import { enteredIn, type FieldFocus, focusIn, labelOf, shownIn, valuesIn } from './form-values.ts';
import { compare, type FieldValues } from './three-way.ts';

export interface Edit<Document, Values extends FieldValues> {
  /** Name of the form, by which the tests find that it is covered. */
  readonly edits: string;
  readonly target: EditTarget<Document>;
  /** The values that the form shows for a document. */
  readonly valuesOf: (document: Document) => Values;
  /**
   * The members that store the changed fields.
   * @param newest the document as it was read just before, for an API that takes only whole documents
   * @throws Error whose message is shown, when the changes contradict each other
   */
  readonly bodyOf: (changed: Partial<Values>, newest: Document) => object;
  /** The fields, named like the values, which are their defaults. */
  readonly fields: (values: Values, document: Document) => ReactNode;
  /** Label of the button that saves. */
  readonly save?: string;
  /** The request on other command lines than curl. */
  readonly commands?: (body: object) => readonly Command[];
  /** Whether each field has its `Fault`, so that only the other texts of a refusal stand above them. */
  readonly hasFaults?: boolean;
  /** Asked before anything is sent; false stops. */
  readonly mayStore?: (values: Values) => boolean;
}

/** Says that the person has to decide first; the form shows it by itself. */
class Undecided extends Error {}

interface Draft<Document, Values> {
  readonly document: Document;
  /** The values of the document. */
  readonly base: Values;
  /** The values that the person had entered when the fields were drawn. */
  readonly carried: Partial<Values>;
  readonly conflicts: readonly Conflict[];
  /** Number of times that the fields were drawn again. */
  readonly round: number;
}

export interface EditFormProps<Document, Values extends FieldValues>
  extends Edit<Document, Values> {
  /** The thing when the form was opened, and on a page whenever it was read again. */
  readonly document: Document;
  /** Accessible name of a form that is part of a page, where it stays after saving. */
  readonly label?: string;
  readonly isCard?: boolean;
  /** Whether its buttons stay in view at the end of a panel. */
  readonly isInPanel?: boolean;
  /** Further buttons. */
  readonly actions?: ReactNode;
  /** Called with the fields that were stored. */
  readonly onSaved?: (changed: Partial<Values>) => void;
}

/** The body for what has been entered so far; none while it contradicts itself. */
const bodySoFar = <Document, Values extends FieldValues>(
  bodyOf: Edit<Document, Values>['bodyOf'],
  entered: Partial<Values>,
  document: Document,
): object => {
  try {
    return bodyOf(entered, document);
  } catch {
    return {};
  }
};

/** The texts of a refusal that belong to fields of the form, and a text for all others. */
const toldOf = (
  error: Error | null,
  fields: FieldValues,
): { readonly faults: Faults; readonly rest: string | undefined } => {
  if (error === null || error instanceof Undecided) return { faults: new Map(), rest: undefined };
  const all = error instanceof ApiProblem ? error.faults : [];
  const placed = all.filter(({ field }) => field !== undefined && field in fields);
  const others = all.filter((fault) => !placed.includes(fault)).map(({ text }) => text);
  return {
    faults: new Map(placed.map(({ field = '', text }) => [field, text])),
    rest: placed.length === 0 ? messageOf(error) : others.join('; ') || undefined,
  };
};

const isEmpty = (values: object): boolean => Object.keys(values).length === 0;

const isSame = (a: FieldValues, b: FieldValues): boolean =>
  Object.keys(a).every((name) => a[name] === b[name]);

/** The fields of the form as they are drawn and changed. */
const useDraft = <Document, Values extends FieldValues>(
  document: Document,
  valuesOf: (document: Document) => Values,
) => {
  const form = useRef<HTMLFormElement>(null);
  const drawn = useRef<Partial<Values>>({});
  const focused = useRef<FieldFocus>(undefined);
  const [draft, setDraft] = useState<Draft<Document, Values>>(() => ({
    document,
    base: valuesOf(document),
    carried: {},
    conflicts: [],
    round: 0,
  }));
  const [entered, setEntered] = useState<Partial<Values>>({});
  const read = (): Partial<Values> =>
    form.current === null
      ? {}
      : enteredIn(form.current, draft.base, drawn.current, Object.keys(draft.carried));
  /** The fields that were changed after these values had been sent. */
  const readSince = (sent: Partial<Values>): Partial<Values> =>
    form.current === null
      ? {}
      : enteredIn(form.current, draft.base, { ...drawn.current, ...sent }, []);
  /** Draws the fields again, with values that were entered and are not stored yet. */
  const draw = (
    newest: Document,
    carried: Partial<Values> = {},
    conflicts: readonly Conflict[] = [],
  ): void => {
    focused.current = form.current === null ? undefined : focusIn(form.current);
    setDraft(({ round }) => ({
      document: newest,
      base: valuesOf(newest),
      carried,
      conflicts,
      round: round + 1,
    }));
    setEntered(carried);
  };
  useLayoutEffect(() => {
    if (form.current === null) return;
    drawn.current = valuesIn(form.current, draft.base);
    focused.current?.restoreIn(form.current);
  }, [draft.round]);
  useEffect(() => {
    // Drawing the fields again would lose what a person has entered.
    if (isEmpty(read()) && !isSame(valuesOf(document), draft.base)) draw(document);
  }, [document]);
  return { form, draft, draw, read, readSince, entered, recordEntered: () => setEntered(read()) };
};

export const EditForm = <Document, Values extends FieldValues>(
  props: EditFormProps<Document, Values>,
) => {
  const { target, valuesOf, bodyOf, label } = props;
  const { form, draft, draw, read, readSince, entered, recordEntered } = useDraft(
    props.document,
    valuesOf,
  );

  const saving = useAction(
    async (mine: Partial<Values>) => {
      const newest = await target.read();
      const theirs = valuesOf(newest);
      const { changed, conflicts } = compare(draft.base, mine, theirs);
      const current = form.current;
      if (conflicts.length > 0 && current !== null) {
        const asked = conflicts.map((name) => ({
          name,
          label: labelOf(current, name),
          theirs: shownIn(current, name, theirs[name] ?? ''),
          mine: shownIn(current, name, mine[name] ?? ''),
        }));
        draw(newest, changed, asked);
        throw new Undecided();
      }
      if (!isEmpty(changed)) await target.send(bodyOf(changed, newest));
      return changed;
    },
    async (changed, mine) => {
      props.onSaved?.(changed);
      if (label === undefined) return;
      const newest = await target.read();
      // Whoever has gone on meanwhile keeps what was entered.
      draw(newest, readSince(mine));
    },
    (changed) => (isEmpty(changed) ? 'Nothing was changed.' : 'Saved.'),
  );

  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const theirs = decidedIn(event.currentTarget, draft.conflicts);
    const mine = Object.fromEntries(
      Object.entries(read()).filter(([name]) => !theirs.includes(name)),
    ) as Partial<Values>;
    if (props.mayStore?.({ ...draft.base, ...mine }) !== false) saving.run(mine);
  };
  const body = bodySoFar(bodyOf, entered, draft.document);
  const told = toldOf(saving.error, props.hasFaults === true ? draft.base : {});
  return (
    <form
      ref={form}
      onSubmit={submit}
      onInput={recordEntered}
      aria-label={label}
      className={props.isCard === true ? cardStyles['card'] : undefined}
    >
      {told.rest !== undefined && <Problem>{told.rest}</Problem>}
      <Conflicts conflicts={draft.conflicts} />
      <FaultsOfForm value={told.faults}>
        <Fragment key={draft.round}>
          {props.fields({ ...draft.base, ...draft.carried }, draft.document)}
        </Fragment>
      </FaultsOfForm>
      <Commands
        title={label}
        commands={[target.command(body), ...(props.commands?.(body) ?? [])]}
      />
      <FormActions className={props.isInPanel === true ? modalStyles['panel-actions'] : undefined}>
        <Button type="submit" look="primary" disabled={saving.isPending}>
          {saving.isPending ? 'Working…' : (props.save ?? 'Save')}
        </Button>
        {label !== undefined && !isEmpty(entered) && (
          <Button onClick={() => draw(draft.document)}>Undo</Button>
        )}
        {props.actions}
      </FormActions>
    </form>
  );
};
