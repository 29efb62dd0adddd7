import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react/tab';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { TitleOfPart } from './command-registry.ts';
import styles from './tabs.module.css';

export interface TabItem<Name extends string> {
  readonly name: Name;
  readonly title: string;
  readonly content: () => ReactNode;
}

/** Tabs by mouse and arrow keys; only the selected tab's content is rendered. */
export function Tabs<Name extends string>(props: {
  label: string;
  items: readonly TabItem<Name>[];
  selected: Name;
  onSelect: (name: Name) => void;
}) {
  const { items, selected, onSelect } = props;
  return (
    <TabProvider
      selectedId={selected}
      setSelectedId={(id) => {
        const item = items.find(({ name }) => name === id);
        if (item !== undefined) onSelect(item.name);
      }}
    >
      <TabList className={styles['tabs']} aria-label={props.label}>
        {items.map(({ name, title }) => (
          <Tab key={name} id={name} className={buttonClass(undefined, styles['tab'])}>
            {title}
          </Tab>
        ))}
      </TabList>
      {items.map(({ name, title, content }) => (
        <TabPanel key={name} tabId={name} focusable={false}>
          {name === selected && <TitleOfPart value={title}>{content()}</TitleOfPart>}
        </TabPanel>
      ))}
    </TabProvider>
  );
}
