import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import cardStyles from './card.module.css';
import { classes } from './classes.ts';
import { CommandsOfPage, createCommandRegistry, TitleOfPart } from './command-registry.ts';
import { CommandsButton } from './commands-button.tsx';
import styles from './page.module.css';
import { Skeleton } from './skeleton.tsx';
import { CardHeading, PageHeading } from './text.tsx';
import { useHasArrived } from './use-has-arrived.ts';

export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Keelson`;
  }, [title]);
};

/** A sentence about a page or a list, below its heading. */
export const Lead = ({ className, ...rest }: ComponentProps<'p'>) => (
  <p {...rest} className={classes(styles['lead'], className)} />
);

/** The buttons of a page or a card, next to its heading. */
export const PageActions = ({ children }: { children: ReactNode }) => (
  <div className={styles['actions']}>{children}</div>
);

/** A page: its heading with actions, and its content. */
export const Page = (props: {
  title: string;
  /** Title of the window, when it differs from the heading. */
  windowTitle?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** Whether the heading and the actions stay in view. */
  isSticky?: boolean;
  children: ReactNode;
}) => {
  useTitle(props.windowTitle ?? props.title);
  const [commands] = useState(createCommandRegistry);
  const hasArrived = useHasArrived();
  return (
    <CommandsOfPage value={commands}>
      <TitleOfPart value={props.title}>
        <header className={classes(styles['head'], props.isSticky === true && styles['sticky'])}>
          <div className={styles['title']}>
            <PageHeading>{props.title}</PageHeading>
            {props.lead !== undefined && <Lead>{props.lead}</Lead>}
          </div>
          <PageActions>
            {props.actions}
            <CommandsButton />
          </PageActions>
        </header>
        {!hasArrived && (
          <div className={styles['arrival']}>
            <Skeleton />
          </div>
        )}
        <div className={hasArrived ? undefined : styles['arriving']}>{props.children}</div>
      </TitleOfPart>
    </CommandsOfPage>
  );
};

export const Card = (props: { title?: string; actions?: ReactNode; children: ReactNode }) => (
  <section className={cardStyles['card']}>
    {props.title !== undefined && (
      <div className={cardStyles['head']}>
        <CardHeading>{props.title}</CardHeading>
        {props.actions !== undefined && <PageActions>{props.actions}</PageActions>}
      </div>
    )}
    {props.title === undefined ? (
      props.children
    ) : (
      <TitleOfPart value={props.title}>{props.children}</TitleOfPart>
    )}
  </section>
);

export const Empty = ({ children }: { children: ReactNode }) => (
  <p className={styles['empty']}>{children}</p>
);

export const Problem = ({ children }: { children: ReactNode }) => (
  <p role="alert" className={styles['problem']}>
    {children}
  </p>
);
