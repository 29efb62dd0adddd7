/** Search over screens and entities, by its button or Ctrl+K. */
import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  useComboboxStore,
} from '@ariakit/react/combobox';
import { Dialog } from '@ariakit/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Found, type FoundGroup, useFound } from './search-results.ts';

const itemIdOf = ({ address }: Found): string => `found-${address}`;

const Results = (props: { groups: readonly FoundGroup[]; onChoose: (found: Found) => void }) => (
  <ComboboxList className="found" alwaysVisible aria-label="Results">
    {props.groups.map(({ title, found, count }) => (
      <ComboboxGroup key={title}>
        <ComboboxGroupLabel className="found-title">
          {title}
          {count > found.length && ` · ${found.length} of ${count.toLocaleString()}`}
        </ComboboxGroupLabel>
        {found.map((one) => (
          <ComboboxItem
            key={one.address}
            id={itemIdOf(one)}
            className="found-item"
            focusOnHover
            hideOnClick={false}
            setValueOnClick={false}
            onClick={() => props.onChoose(one)}
          >
            {one.title}
            {one.more !== undefined && <small>{one.more}</small>}
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

const SearchBox = (props: { onDone: () => void }) => {
  const [text, setText] = useState('');
  const [entered, setEntered] = useState<Entered>();
  const navigate = useNavigate();
  const results = useFound(text.trim());
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
  const choose = ({ address }: Found): void => {
    props.onDone();
    void navigate({ href: address });
  };
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
        placeholder="Page, workspace, authority, policy…"
        aria-label="Search"
        className="search-input"
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
      <Results groups={results.groups} onChoose={choose} />
      {results.groups.length === 0 && <p className="empty">Nothing has this name.</p>}
      {results.scopes.map((scope) => (
        <p key={scope} className="found-note">
          {scope}
        </p>
      ))}
    </ComboboxProvider>
  );
};

export const SearchButton = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button
        type="button"
        className="search-button"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        Search <kbd>Ctrl K</kbd>
      </button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        unmountOnHide
        className="palette"
        aria-label="Search"
        backdrop={<div className="backdrop" />}
      >
        <SearchBox onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
};
