/** The field of the search with its results. It is loaded after the page, of which it would be a tenth. */
import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  useComboboxStore,
} from '@ariakit/react/combobox';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Input } from '../components/fields.tsx';
import { counted } from '../components/format.ts';
import { Empty } from '../components/page.tsx';
import { Small, Unseen } from '../components/text.tsx';
import styles from './search-box.module.css';
import { type Found, type FoundGroup, useFound } from './search-results.ts';

const itemIdOf = ({ address }: Found): string => `found-${address}`;

const Results = (props: { groups: readonly FoundGroup[]; onChoose: (found: Found) => void }) => (
  <ComboboxList className={styles['found']} alwaysVisible aria-label="Results">
    {props.groups.map(({ title, found, count }) => (
      <ComboboxGroup key={title}>
        <ComboboxGroupLabel className={styles['title']}>
          {title}
          {count > found.length && ` · ${found.length} of ${count.toLocaleString()}`}
        </ComboboxGroupLabel>
        {found.map((one) => (
          <ComboboxItem
            key={one.address}
            id={itemIdOf(one)}
            className={styles['item']}
            focusOnHover
            hideOnClick={false}
            setValueOnClick={false}
            onClick={() => props.onChoose(one)}
          >
            {one.title}
            {one.more !== undefined && <Small>{one.more}</Small>}
          </ComboboxItem>
        ))}
      </ComboboxGroup>
    ))}
  </ComboboxList>
);

/** A press of Enter: the text at that time, and the item selected by arrow keys or pointer. */
interface Entered {
  readonly text: string;
  readonly itemId: string | null | undefined;
}

export const SearchBox = (props: {
  actions: readonly Found[];
  onDone: (chosen: Found) => void;
}) => {
  const [text, setText] = useState('');
  const [entered, setEntered] = useState<Entered>();
  const navigate = useNavigate();
  const results = useFound(text.trim(), props.actions);
  const combobox = useComboboxStore({
    open: true,
    setOpen: () => undefined,
    value: text,
    setValue: (value) => {
      setText(value);
      setEntered(undefined);
      // The selected item belongs to the results of the previous text.
      combobox.setActiveId(null);
    },
  });
  const choose = (chosen: Found): void => {
    const { address, perform } = chosen;
    props.onDone(chosen);
    if (perform === undefined) void navigate({ href: address });
    else perform();
  };
  const count = results.groups.reduce((sum, { found }) => sum + found.length, 0);
  // Enter waits for the results for the current text, which may not have arrived yet.
  useEffect(() => {
    if (entered?.text !== text) return;
    const found = results.groups.flatMap((group) => group.found);
    const chosen = found.find((one) => itemIdOf(one) === entered.itemId) ?? found[0];
    if (chosen === undefined) return;
    setEntered(undefined);
    choose(chosen);
  });
  return (
    <ComboboxProvider store={combobox}>
      <Combobox
        autoFocus
        autoSelect="always"
        placeholder="Page, workspace, certificate, action…"
        aria-label="Search"
        render={<Input />}
        onKeyDownCapture={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          // Ariakit would click the selected item, even if it was found for another text.
          event.preventDefault();
          setEntered({
            text: event.currentTarget.value,
            itemId: combobox.getState().activeId,
          });
        }}
      />
      <Unseen role="status" aria-label="Found">
        {text.trim() === '' ? '' : counted(count, 'result')}
      </Unseen>
      <Results groups={results.groups} onChoose={choose} />
      {results.groups.length === 0 && <Empty>Nothing has this name.</Empty>}
      {results.scopes.map((scope) => (
        <p key={scope} className={styles['note']}>
          {scope}
        </p>
      ))}
    </ComboboxProvider>
  );
};
