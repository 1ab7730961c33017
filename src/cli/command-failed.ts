/** A failure that the command has told of already, in its own form. */
export class CommandFailed extends Error {
  constructor() {
    super('The command failed.');
    this.name = new.target.name;
  }
}
