/** The rules of a policy in a text field that completes paths and capabilities. */
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { callSecrets } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { Label, TextArea } from '../components/fields.tsx';
import { Code, Hint, Key } from '../components/text.tsx';
import { type Completions, completionsAt, policyPaths } from './completions.ts';
import styles from './policy-text.module.css';

const [MIN_ROWS, MAX_ROWS] = [8, 30];
const CLOSED: Completions = { from: 0, to: 0, items: [] };

/** The paths that the token can reach; read when the text field is first used. */
const usePaths = (isAsked: boolean): readonly string[] => {
  const { secrets, namespace } = useSession();
  const { data } = useQuery({
    queryKey: ['policy-paths', secrets, namespace],
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const document = await callSecrets<{ paths: object }>('GET', 'sys/internal/specs/openapi', {
        signal,
      });
      return policyPaths(Object.keys(document.paths));
    },
  });
  return data ?? [];
};

export const PolicyText = (props: {
  value: string;
  onChange?: (text: string) => void;
  isReadOnly?: boolean;
}) => {
  const { value, onChange = () => undefined } = props;
  const listId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  /** Where the caret goes once a chosen item has been inserted. */
  const wantedCaret = useRef<number>(undefined);
  useLayoutEffect(() => {
    const { current: caret } = wantedCaret;
    wantedCaret.current = undefined;
    if (caret !== undefined) field.current?.setSelectionRange(caret, caret);
  }, [value]);
  const [isUsed, setUsed] = useState(false);
  const [open, setOpen] = useState(CLOSED);
  const [active, setActive] = useState(0);
  const paths = usePaths(isUsed && props.isReadOnly !== true);
  const close = (): void => setOpen(CLOSED);
  const complete = (text: string, caret: number): void => {
    setOpen(completionsAt(text, caret, paths));
    setActive(0);
  };
  const choose = (item: string): void => {
    const next = value.slice(0, open.from) + item + value.slice(open.to);
    // The caret of an inserted rule goes between its first quotes.
    const caret = open.from + (item.includes('"') ? item.indexOf('"') + 1 : item.length);
    onChange(next);
    close();
    wantedCaret.current = caret;
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { items } = open;
    if (event.key === ' ' && event.ctrlKey) complete(value, event.currentTarget.selectionStart);
    else if (items.length === 0) return;
    else if (event.key === 'ArrowDown') setActive((active + 1) % items.length);
    else if (event.key === 'ArrowUp') setActive((active + items.length - 1) % items.length);
    else if (event.key === 'Enter' || event.key === 'Tab') choose(items[active] ?? '');
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    // Escape would otherwise also close the dialog around the field.
    event.stopPropagation();
  };
  return (
    <div className={styles['completed']}>
      <Label>
        Rules
        <TextArea
          ref={field}
          name="policy"
          isCode
          rows={Math.min(MAX_ROWS, Math.max(MIN_ROWS, value.split('\n').length + 1))}
          spellCheck={false}
          readOnly={props.isReadOnly}
          value={value}
          aria-autocomplete="list"
          aria-controls={open.items.length > 0 ? listId : undefined}
          aria-activedescendant={open.items.length > 0 ? `${listId}-${active}` : undefined}
          onFocus={() => setUsed(true)}
          onBlur={close}
          onKeyDown={press}
          onChange={({ target }) => {
            onChange(target.value);
            complete(target.value, target.selectionStart);
          }}
        />
      </Label>
      {open.items.length > 0 && (
        <ul id={listId} role="listbox" aria-label="Completions" className={styles['completions']}>
          {open.items.map((item, at) => (
            <li
              key={item}
              id={`${listId}-${at}`}
              role="option"
              className={styles['completion']}
              aria-selected={at === active}
              // A click would take the focus, and thus close the list, before it arrives.
              onMouseDown={(event) => {
                event.preventDefault();
                choose(item);
              }}
            >
              <Code>{item.includes('\n') ? 'path "…" { capabilities = […] }' : item}</Code>
            </li>
          ))}
        </ul>
      )}
      {props.isReadOnly !== true && (
        <Hint>
          Completions of paths and capabilities open while you type between quotation marks, and by{' '}
          <Key>Ctrl</Key> <Key>Space</Key>; <Key>Tab</Key> takes one.
        </Hint>
      )}
    </div>
  );
};

/** The text field with a text of its own, for a form that reads it when it is sent. */
export const PolicyRules = ({ first }: { first: string }) => {
  const [text, setText] = useState(first);
  return <PolicyText value={text} onChange={setText} />;
};
