//! Mates on the move, for exact searches: few moves give check at all, and only these are played.

use shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square, attacks};

use super::legal;
use super::position::Position;
use crate::game::Action;

/// The first legal action that mates.
pub fn mate_at_once(position: &Position) -> Option<Action> {
    let chess = position.chess();
    let king = chess.their(Role::King).first()?;
    let mut actions = Vec::new();
    legal::actions(chess, &mut actions);
    let mates = |action: &Action| {
        let Some(played) = position.decode(*action).filter(|played| may_check(chess, king, *played)) else {
            return false;
        };
        let mut after = chess.clone();
        after.play_unchecked(played);
        after.is_check() && !legal::any(&after)
    };
    actions.into_iter().find(mates)
}

/// Whether a move can give check: from its square, by a line that it opens, or in a way that is not looked into here.
pub fn may_check(chess: &Chess, king: Square, played: Move) -> bool {
    // Castling and en passant move two pieces; they are rare enough to be played out.
    let Move::Normal { role, from, to, promotion, .. } = played else { return true };
    let occupied = chess.board().occupied().without(from).with(to);
    let reach = match promotion.unwrap_or(role) {
        Role::Pawn => attacks::pawn_attacks(chess.turn(), to),
        Role::Knight => attacks::knight_attacks(to),
        Role::Bishop => attacks::bishop_attacks(to, occupied),
        Role::Rook => attacks::rook_attacks(to, occupied),
        Role::Queen => attacks::queen_attacks(to, occupied),
        // A king gives no check but by the line that it leaves.
        Role::King => Bitboard::EMPTY,
    };
    // A piece that leaves a line with the king may uncover a check.
    reach.contains(king) || attacks::ray(king, from).any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Outcome;
    use crate::games::make_game;
    use crate::math::rng::{Stream, tree_key};

    #[test]
    fn it_finds_what_playing_every_move_finds() {
        let mut found = 0;
        for game in 0..300 {
            let mut random = Stream::new(tree_key(game, 7));
            let mut state = make_game("chess").unwrap().initial();
            let mut legal = Vec::new();
            while state.outcome().is_none() && state.ply() < 300 {
                state.legal_actions(&mut legal);
                let wins = |action: &Action| {
                    let mut after = state.clone_box();
                    after.play(*action);
                    after.outcome() == Some(Outcome::Win(state.to_move()))
                };
                let expected = legal.iter().copied().find(wins);
                assert_eq!(state.win_at_once(), expected, "{}", state.notation());
                found += u32::from(expected.is_some());
                let action = legal[random.below(legal.len())];
                state.play(action);
            }
        }
        assert!(found > 20, "{found} mates");
    }
}
