import { newTurnState, type TurnState } from './state.ts';

/** The engine's answer to a submit. `streaming` is a turn of its own at once; null while the answer is out. */
export type SubmitAnswer = 'streaming' | 'queued' | 'redirected' | 'refused';

/** One turn in the recording's list. Its content is replaced as a whole when frames turn out to belong earlier. */
export interface Slot {
  session: string;
  origin: 'user' | 'engine';
  prompt: string | null;
  answer: SubmitAnswer | null;
  /** The engine's id of the prompt's row, when it told one. */
  rowId: number | null;
  /** Place of the frame with which the turn began; `serial` decides between turns of one place. */
  order: number;
  serial: number;
  /** Place of the frame with which it ended. */
  settledOrder: number;
  listed: boolean;
  state: TurnState;
}

/** The turns of a recording in the order in which they were sent or started. */
export interface SlotList {
  add(slot: Omit<Slot, 'serial' | 'settledOrder' | 'listed' | 'state'>, at: number | null): Slot;
  /** Puts a slot back that was taken out. */
  put(slot: Slot): void;
  remove(slot: Slot): void;
  all(): readonly Slot[];
  /** Takes the first slot out for good; the following ones keep their index. */
  drop(): void;
  dropped(): number;
}

export function createSlotList(): SlotList {
  const slots: Slot[] = [];
  let serial = 0;
  let dropped = 0;
  function put(slot: Slot): void {
    if (slot.listed) return;
    slot.listed = true;
    let at = slots.length;
    for (let before = slots[at - 1]; before !== undefined && isAfter(before, slot); before = slots[at - 1])
      at -= 1;
    slots.splice(at, 0, slot);
  }
  return {
    add(fields, at) {
      serial += 1;
      const slot: Slot = { ...fields, serial, settledOrder: 0, listed: false, state: newTurnState(at) };
      put(slot);
      return slot;
    },
    put,
    remove(slot) {
      const at = slots.lastIndexOf(slot);
      if (at >= 0) slots.splice(at, 1);
      slot.listed = false;
    },
    all: () => slots,
    drop() {
      slots.shift();
      dropped += 1;
    },
    dropped: () => dropped,
  };
}

function isAfter(a: Slot, b: Slot): boolean {
  return a.order > b.order || (a.order === b.order && a.serial > b.serial);
}
