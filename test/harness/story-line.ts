/** The stories of one stage: each begins when the one before it is over, however that ended. */
export class StoryLine {
  private last: Promise<void> = Promise.resolve();

  play(story: () => Promise<void>): Promise<void> {
    const played = this.last.then(story);
    this.last = played.catch(() => undefined);
    return played;
  }
}
