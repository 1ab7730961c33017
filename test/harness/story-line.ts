/** The stories of one stage, in sequence: each begins when the one before it has ended, even if it failed. */
export class StoryLine {
  private last: Promise<void> = Promise.resolve();

  play(story: () => Promise<void>): Promise<void> {
    const played = this.last.then(story);
    this.last = played.catch(() => undefined);
    return played;
  }
}
