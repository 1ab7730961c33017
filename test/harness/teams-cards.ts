import type { SaidAtTeams, TestTeams } from './teams.js';

export const PEOPLE = {
  ada: { id: '29:ada', name: 'ada', aadObjectId: '0000000a-0000-0000-0000-000000000001' },
  grace: { id: '29:grace', name: 'grace', aadObjectId: '0000000b-0000-0000-0000-000000000002' },
  mallory: { id: '29:mallory', name: 'mallory', aadObjectId: '0000000c-0000-0000-0000-000000000003' },
};

export interface TextRun {
  readonly type: string;
  readonly text: string;
}

export interface AdaptiveCard {
  readonly version: string;
  readonly body: readonly { readonly type: string; readonly inlines: readonly TextRun[] }[];
  readonly actions: readonly {
    readonly type: string;
    readonly title: string;
    readonly verb: string;
    readonly data: { readonly agw_approval: string };
  }[];
}

/** The text of a card, one line for each block. */
export function readCard(card: AdaptiveCard): string {
  return card.body.map(({ inlines }) => inlines.map(({ text }) => text).join('')).join('\n');
}

/** What clients send when a button with this data is clicked. */
export function clickValue(data: unknown): object {
  return {
    action: { type: 'Action.Execute', title: 'Allow', verb: 'agw_approval', data: { agw_approval: data } },
    trigger: 'manual',
  };
}

/** The current cards of a conversation. */
export function cardsOf(teams: TestTeams, conversation?: string): AdaptiveCard[] {
  return teams
    .said(conversation)
    .flatMap(({ attachments }: SaidAtTeams) =>
      attachments
        .filter(({ contentType }) => contentType === 'application/vnd.microsoft.card.adaptive')
        .map(({ content }) => content as AdaptiveCard),
    );
}
